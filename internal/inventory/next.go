package inventory

import (
	"fmt"

	"orchestrate/internal/runtime"
)

// nextStep is what a person does about a runtime whose adapter had no better idea.
func nextStep(p runtime.Profile) string {
	switch {
	case absent(p):
		return fmt.Sprintf("install %s so that it is on PATH, then run `orchestrate doctor`", p.Runtime)
	case p.SignedIn != nil && !*p.SignedIn:
		return fmt.Sprintf("sign %s in, then run `orchestrate doctor`", p.Runtime)
	}
	return "run `orchestrate doctor` again; if it says the same, look at the evidence in `orchestrate doctor --json`"
}

// absent reports whether a runtime is not installed at all.
func absent(p runtime.Profile) bool {
	return p.Kind == runtime.KindCLI && p.State == runtime.StateUnavailable && p.Executable == nil
}

// Absent names the runtimes that are not installed.
func (inv Inventory) Absent() (names []string) {
	for _, p := range inv.Profiles {
		if absent(p) {
			names = append(names, p.Runtime)
		}
	}
	return names
}

// Present are the profiles of all others.
func (inv Inventory) Present() (all []runtime.Profile) {
	for _, p := range inv.Profiles {
		if !absent(p) {
			all = append(all, p)
		}
	}
	return all
}

// NextSteps says, one line each, what a person can do about the coding agents that
// cannot take a job.
func (inv Inventory) NextSteps() (steps []string) {
	for _, p := range inv.Profiles {
		if p.Kind == runtime.KindCLI && !p.Routable() {
			steps = append(steps, fmt.Sprintf("%s is %s: %s. Next: %s", p.Runtime, p.State, p.Reason, p.NextStep))
		}
	}
	return steps
}
