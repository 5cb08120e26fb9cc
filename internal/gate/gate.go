// Package gate is the decision before dispatch: does the route hold the controls
// that the job's risk tier asks for, and has a person approved what needs one. It
// trusts nothing that routing concluded and looks at the recorded route only.
package gate

import (
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/spec"
)

// need is one control of a tier and how a route can hold it.
type need struct {
	name string
	met  func(j *spec.Job, r ledger.Route) bool
	next string
}

// Decide says why a job may not be dispatched on a route; nil when it may. host is what
// this machine's sandbox enforces, w a person's word on the job. What may not be
// dispatched anyway is not a matter of approval.
func Decide(j *spec.Job, r ledger.Route, host sandbox.Level, w Word) *route.Block {
	if block := Controls(j, r, host); block != nil {
		return block
	}
	return approve(j, r, w)
}

// Controls holds a route against the controls of its risk tier, and says which are
// missing; nil when none is.
func Controls(j *spec.Job, r ledger.Route, host sandbox.Level) *route.Block {
	var missing []need
	for _, n := range needs(j, policy.Risk(r.Risk), host) {
		if !n.met(j, r) {
			missing = append(missing, n)
		}
	}
	if len(missing) > 0 {
		return controlsBlock(r, missing)
	}
	return nil
}

// A way on where only this program can be wrong.
const reportIt = "this is a fault of the program; please report it"

// needs is the contract's table of minimum controls. Each tier adds to the one
// below; what concerns changes is asked of writers only.
func needs(j *spec.Job, risk policy.Risk, host sandbox.Level) []need {
	out := []need{
		{"explicit cwd", ours(route.ControlCwd), "name the job's cwd"},
		{"bounded timeout", ours(route.ControlTimeout), "give the job a timeout"},
		{"capture", holds(route.ControlCapture), reportIt},
		{"no access beyond need", granted, reportIt},
		{"write boundary", bounded, "take out `isolation: none`, or name a runtime with a sandbox or a mode that bounds its writes"},
	}
	if j.Writes() {
		out = append(out, need{"worktree of its own", apart, reportIt})
		out = append(out, ofWriters...)
	} else {
		out = append(out, need{"fingerprint of the checkout", watched, reportIt})
	}
	if !risk.Less(policy.R2) {
		out = append(out, ofR2(j, host)...)
	}
	if !risk.Less(policy.R3) {
		out = append(out, ofR3...)
	}
	return out
}

// ofWriters is what R1 asks for beside its boundary.
var ofWriters = []need{
	{"tool limits", limited, "name a runtime whose tools can be limited"},
	{"patch", holds(route.ControlPatch), reportIt},
	{"owned paths", holds(route.ControlOwnership), reportIt},
}

// ofR2 is what R2 adds. That its work is reviewed is the arbiter's part.
func ofR2(j *spec.Job, host sandbox.Level) []need {
	out := []need{
		{"worktree", holds(route.ControlWorktree), "take out `isolation: none`"},
		{"sandbox for its shell", confined, "name a runtime with a sandbox, or take the shell out of allowed_tools"},
	}
	if host.Holds() {
		out = append(out, need{"sandbox", sandboxed, "name a runtime that works in the engine's sandbox, or whose own can be shown to hold"})
	}
	if policy.CheckNeeded(j, policy.R2) {
		out = append(out, need{"checks", func(j *spec.Job, _ ledger.Route) bool { return len(j.Checks) > 0 }, "give the job at least one check"})
	}
	return out
}

// ofR3 is what R3 adds beside the approval: an isolation by words alone is none.
var ofR3 = []need{
	{
		"enforced boundary", func(_ *spec.Job, r ledger.Route) bool { return enforced(r) && !hosted(r) },
		"run it where a sandbox holds it (`orchestrate doctor` says what this host enforces), or do this step by hand",
	},
	{
		"preview and rollback", func(j *spec.Job, _ ledger.Route) bool { return j.Preview != "" && j.Rollback != "" },
		"say in preview what it will do and in rollback how to undo it",
	},
}

func holds(control string) func(*spec.Job, ledger.Route) bool {
	return func(_ *spec.Job, r ledger.Route) bool { return slices.Contains(r.Controls, control) }
}

// ours: what is done to a process of ours, which an agent of the hosting session is not;
// then that is on the record.
func ours(control string) func(*spec.Job, ledger.Route) bool {
	return func(j *spec.Job, r ledger.Route) bool {
		return holds(control)(j, r) || hosted(r) && len(r.Constrained) > 0
	}
}

// hosted reports whether the route is an agent's of the hosting session.
func hosted(r ledger.Route) bool { return r.Runtime == runtime.Internal }

// bounded: an enforced boundary for the access that was granted, or for a writer a
// worktree with the weakness recorded. An observer without a boundary is held by
// the fingerprint of the checkout or a worktree, and that is recorded too.
func bounded(j *spec.Job, r ledger.Route) bool {
	if enforced(r) {
		return true
	}
	if len(r.Constrained) == 0 {
		return false
	}
	return holds(route.ControlWorktree)(j, r) || !j.Writes() && holds(route.ControlFingerprint)(j, r)
}

// granted: an observer gets no edits, and a shell is for plain programs and for jobs
// that ask for tools.
func granted(j *spec.Job, r ledger.Route) bool {
	switch runtime.Access(r.Access) {
	case runtime.AccessEdit:
		return j.Writes()
	case runtime.AccessShell:
		return program(r) || len(j.AllowedTools) > 0
	}
	return true
}

// apart: a hosting session's agent changes nothing but a tree of its own.
func apart(j *spec.Job, r ledger.Route) bool { return !hosted(r) || holds(route.ControlWorktree)(j, r) }

// watched: what the checkout was before and is after is compared, or it is not there
// that the job works.
func watched(j *spec.Job, r ledger.Route) bool {
	return holds(route.ControlFingerprint)(j, r) || holds(route.ControlWorktree)(j, r)
}

// confined: what an agent's shell does is held by a kernel's sandbox. A plain program
// is what the person wrote.
func confined(j *spec.Job, r ledger.Route) bool {
	return r.Access != string(runtime.AccessShell) || program(r) || sandboxed(j, r)
}

// sandboxed: a kernel's sandbox holds its processes, the engine's or one of its own.
func sandboxed(_ *spec.Job, r ledger.Route) bool { return r.Sandbox != "" && enforced(r) }

// program reports whether the route is a plain program's, which has no capability.
func program(r ledger.Route) bool { return r.Capability == string(policy.NoCapability) }

func enforced(r ledger.Route) bool {
	by := []runtime.ControlName{runtime.ControlOSSandbox}
	switch runtime.Access(r.Access) {
	case runtime.AccessRead:
		by = append(by, runtime.ControlReadOnly)
	case runtime.AccessEdit:
		by = append(by, runtime.ControlEditsOnly)
	}
	return slices.ContainsFunc(by, func(c runtime.ControlName) bool { return slices.Contains(r.Controls, string(c)) })
}

// limited: the tools are limited, or whatever a tool does is held by a kernel's
// sandbox. A plain program has no tools; its weakness is on the record.
func limited(j *spec.Job, r ledger.Route) bool {
	return slices.Contains(r.Controls, string(runtime.ControlToolLimits)) || sandboxed(j, r) || program(r) && len(r.Constrained) > 0
}

func controlsBlock(r ledger.Route, missing []need) *route.Block {
	var names []string
	for _, n := range missing {
		names = append(names, n.name)
	}
	return &route.Block{
		Reason:   runtime.BlockedRiskControls,
		Detail:   fmt.Sprintf("%s (%s) needs controls that %s does not hold: %s", r.Risk, r.RiskWhy, r.Runtime, strings.Join(names, ", ")),
		NextStep: missing[0].next,
	}
}

// Bypass finds an argument that switches a runtime's permission checks or sandbox
// off; "" when there is none. It is asked about the commands of agents, never about
// a plain program's own arguments.
func Bypass(argv []string) string { return runtime.Bypass(argv) }
