package inventory

import (
	"fmt"

	"orchestrate/internal/runtime"
)

// nextStep is what a person does about a runtime whose adapter had no better idea.
func nextStep(p runtime.Profile) string {
	switch {
	case p.State == runtime.StateUnavailable && p.Executable == nil:
		return fmt.Sprintf("install %s so that it is on PATH, then run `orchestrate doctor`", p.Runtime)
	case p.SignedIn != nil && !*p.SignedIn:
		return fmt.Sprintf("sign %s in, then run `orchestrate doctor`", p.Runtime)
	}
	return "run `orchestrate doctor` again; if it says the same, look at the evidence in `orchestrate doctor --json`"
}

// NextSteps says, one line each, what a person can do about the coding agents that
// cannot take a job, and what remains possible when none can.
func (inv Inventory) NextSteps() []string {
	var steps []string
	usable := false
	for _, p := range inv.Profiles {
		if p.Kind == runtime.KindExec || p.Kind == runtime.KindStandin {
			continue
		}
		if p.Routable() {
			usable = true
			continue
		}
		steps = append(steps, fmt.Sprintf("%s is %s: %s. Next: %s", p.Runtime, p.State, p.Reason, p.NextStep))
	}
	if !usable {
		steps = append(steps, "no coding agent can take a job yet: set up any one of them, or try a graph without one with `orchestrate rehearse SPEC`")
	}
	return steps
}
