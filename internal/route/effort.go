package route

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// depths are the words of a spec for how deep a model is to think, in order. A live
// list may use others, which cannot be compared with them.
func depths() []string { return []string{"minimal", "low", "medium", "high", "xhigh", "max"} }

// checkEffort maps the wanted reasoning depth to one that the live list exposes for
// the model: the same word, else the next higher. It is never silently lowered.
// What a list does not know, the adapter decides.
func (in Input) checkEffort(o *option) {
	effort, p := in.Job.Effort, o.profile
	o.effort = effort
	if effort == "" || p.Kind == runtime.KindStandin {
		return
	}
	if !p.Has(runtime.ControlEffort) {
		o.fail(runtime.BlockedNoRoute, "leave effort out for this runtime", "effort %s is wanted, but it has no way to ask for one", effort)
		return
	}
	m, ok := p.ModelNamed(cmp.Or(o.model, p.DefaultModel))
	if !ok {
		return
	}
	level := atLeast(effort, m.Efforts)
	switch level {
	case effort:
	case "":
		o.fail(runtime.BlockedNoRoute, "choose an effort that it exposes ("+cmp.Or(strings.Join(m.Efforts, ", "), "none")+"), or leave effort out",
			"effort %s is not exposed for model %s, nor is a higher one", effort, m.ID)
	default:
		o.effort = level
		o.effortWhy = fmt.Sprintf("the spec says %s; of what model %s offers (%s), %s is the next higher",
			effort, m.ID, strings.Join(m.Efforts, ", "), level)
	}
}

// atLeast is the lowest of the levels that is not below the wanted one, "" = none.
func atLeast(wanted string, levels []string) string {
	if slices.Contains(levels, wanted) {
		return wanted
	}
	from := slices.Index(depths(), wanted)
	if from < 0 {
		return ""
	}
	for _, d := range depths()[from:] {
		if slices.Contains(levels, d) {
			return d
		}
	}
	return ""
}
