package opencode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// readModels fills Models with those of the providers that have a key. The list
// is whole: the program fails on any other name, and says nothing of use then.
func readModels(ctx context.Context, asker *probe.Asker, p *runtime.Profile) {
	answer := asker.Ask(ctx, nil, append([]string{"models", "--verbose"}, pure(*p)...)...)
	var torn bool
	p.Models, torn = parseModels(answer.Stdout)
	asker.Summarize(fmt.Sprintf("%d models", len(p.Models)))
	if probe.Trouble("", answer) != "" || len(p.Models) == 0 {
		p.ModelsPartial = true
		p.Limits = append(p.Limits, "models are not known: the program did not list them")
		return
	}
	if torn {
		p.ModelsPartial = true
		p.Limits = append(p.Limits, "the list of models came torn, so it is not whole")
	}
	for i := range p.Models {
		p.Models[i].Default = p.Models[i].ID == p.DefaultModel
	}
}

// modelControl needs a list. A name that the program does not know ends in a failure that
// says nothing of models, and no answer says which model gave it.
func modelControl(p runtime.Profile) runtime.Control {
	if len(p.Models) == 0 {
		return runtime.Control{Name: runtime.ControlModel, Evidence: "the program did not list its models this time, and does not say when it lacks one"}
	}
	return shown(p, runtime.ControlModel, flagModel)
}

// parseModels reads the list: for each model a line with its full name and then
// its description as a JSON object, whose variants are the reasoning depths. torn
// says that something in it cannot be read: the program may end before all it
// printed has gone through a pipe.
func parseModels(printed []byte) (models []runtime.Model, torn bool) {
	for rest := printed; len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		id := strings.TrimSpace(string(line))
		object := bytes.TrimLeft(rest, " \r\n")
		if id == "" {
			continue
		}
		if !strings.Contains(id, "/") || strings.ContainsAny(id, " \t{}\"") || !bytes.HasPrefix(object, []byte("{")) {
			torn = true
			continue
		}
		var about struct {
			Variants map[string]json.RawMessage `json:"variants"`
		}
		decoder := json.NewDecoder(bytes.NewReader(object))
		if decoder.Decode(&about) != nil {
			torn = true
			continue
		}
		rest = object[decoder.InputOffset():]
		models = append(models, runtime.Model{ID: id, Efforts: slices.Sorted(maps.Keys(about.Variants))})
	}
	return models, torn
}
