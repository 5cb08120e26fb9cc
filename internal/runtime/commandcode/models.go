package commandcode

import (
	"context"
	"regexp"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// The list of models begins and ends with these lines. What follows is advice, and
// models that do not take a prompt.
const (
	listBegins = "Available models"
	listEnds   = "Pass the full id"
)

// listed is a line of the list: a name and what it is good for, in two columns.
var listed = regexp.MustCompile(`^(\S+) {2,}\S`)

// readModels fills Models. The list is the program's own catalogue and what the user
// declared, whatever the account may use, and a name that is missing from it is
// passed on to a provider of the user's. Its mark "(default)" is not the user's
// choice, so a default is not known.
func readModels(ctx context.Context, asker *probe.Asker, p *runtime.Profile) {
	p.ModelsPartial = true
	if !p.Shows(flagList) {
		p.Limits = append(p.Limits, "models are not known: help does not show "+flagList)
		return
	}
	answer := asker.Ask(ctx, nil, flagList)
	if why := probe.Trouble("command-code "+flagList, answer); why != "" {
		p.Limits = append(p.Limits, "models are not known: "+why)
		return
	}
	if p.Models = modelsIn(string(answer.Stdout)); len(p.Models) == 0 {
		p.Limits = append(p.Limits, "models are not known: "+flagList+" did not list them in a form that is understood")
	}
}

func modelsIn(list string) (models []runtime.Model) {
	begun := false
	for line := range strings.SplitSeq(list, "\n") {
		switch m := listed.FindStringSubmatch(line); {
		case strings.HasPrefix(line, listBegins):
			begun = true
		case strings.HasPrefix(line, listEnds):
			return models
		case begun && m != nil:
			models = append(models, runtime.Model{ID: m[1]})
		}
	}
	return models
}
