package route

import (
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// compareControls refuses a successor that is weaker on any control than a route on
// which the job ran before: a failure must not be a way to fewer limits.
func (in Input) compareControls(o *option) {
	for _, t := range in.Tried {
		var weaker []string
		for _, c := range t.Controls {
			if !o.holds(c) {
				weaker = append(weaker, c)
			}
		}
		if wider(o.access, t.Access) {
			weaker = append(weaker, string(t.Access)+" access only (it would get "+string(o.access)+")")
		}
		if len(weaker) > 0 {
			o.fail(runtime.BlockedRiskControls,
				"declare a fallback_runtime that holds the same, or pin the job to "+o.name+" from the beginning",
				"weaker than %s, on which the job ran before: it does not hold %s", t.Runtime, strings.Join(weaker, ", "))
			return
		}
	}
}

// holds reports whether the option has the control or one that covers it: a kernel's
// sandbox bounds whatever a tool does, and nobody else's checkout is in a worktree.
func (o *option) holds(control string) bool {
	if slices.Contains(o.controls, control) {
		return true
	}
	switch control {
	case string(runtime.ControlOSSandbox), string(runtime.ControlReadOnly), string(runtime.ControlEditsOnly), string(runtime.ControlToolLimits):
		return o.sandbox != ""
	case ControlFingerprint:
		return slices.Contains(o.controls, ControlWorktree)
	}
	return false
}

// wider reports whether a may write more than b; "" is not known and never narrower.
func wider(a, b runtime.Access) bool {
	order := []runtime.Access{runtime.AccessRead, runtime.AccessEdit, runtime.AccessShell}
	return b != "" && slices.Index(order, a) > slices.Index(order, b)
}
