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
	"orchestrate/internal/spec"
)

// need is one control of a tier and how a route can hold it.
type need struct {
	name string
	met  func(j *spec.Job, r ledger.Route) bool
	next string
}

// Decide holds a route against the controls of its risk tier and says why the job
// may not be dispatched on it; nil when it may. Work at R3, and work whose spec asks
// for an approval, is blocked, since nobody can approve it yet.
func Decide(j *spec.Job, r ledger.Route) *route.Block {
	if needsApproval(j, r) {
		return approvalBlock(j, r)
	}
	var missing []need
	for _, n := range needs(j, policy.Risk(r.Risk)) {
		if !n.met(j, r) {
			missing = append(missing, n)
		}
	}
	if len(missing) > 0 {
		return controlsBlock(r, missing)
	}
	return nil
}

// needs is the contract's table of minimum controls. Each tier adds to the one
// below; what concerns changes is asked of writers only.
func needs(j *spec.Job, risk policy.Risk) []need {
	out := []need{
		{"explicit cwd", holds(route.ControlCwd), "name the job's cwd"},
		{"bounded timeout", holds(route.ControlTimeout), "give the job a timeout"},
		{"capture", holds(route.ControlCapture), "this is a fault of the program; please report it"},
		{"write boundary", bounded, "take out `isolation: none`, or name a runtime with a sandbox or a mode that bounds its writes"},
	}
	if j.Writes() {
		out = append(out,
			need{"tool limits", limited, "name a runtime whose tools can be limited"},
			need{"patch", holds(route.ControlPatch), "this is a fault of the program; please report it"},
			need{"owned paths", holds(route.ControlOwnership), "this is a fault of the program; please report it"},
		)
	}
	if !risk.Less(policy.R2) {
		out = append(out,
			need{"worktree", holds(route.ControlWorktree), "take out `isolation: none`"},
			need{"sandbox for its shell", confined, "name a runtime with a sandbox, or take the shell out of allowed_tools"},
		)
		if j.Writes() {
			out = append(out, need{"checks", func(j *spec.Job, _ ledger.Route) bool { return len(j.Checks) > 0 }, "give the job at least one check"})
		}
	}
	return out
}

func holds(control string) func(*spec.Job, ledger.Route) bool {
	return func(_ *spec.Job, r ledger.Route) bool { return slices.Contains(r.Controls, control) }
}

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

// confined: what an agent's shell does is held by a kernel's sandbox. A plain program
// is what the person wrote.
func confined(_ *spec.Job, r ledger.Route) bool {
	return r.Access != string(runtime.AccessShell) || r.Capability == string(policy.NoCapability) ||
		slices.Contains(r.Controls, string(runtime.ControlOSSandbox))
}

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
func limited(_ *spec.Job, r ledger.Route) bool {
	return slices.Contains(r.Controls, string(runtime.ControlToolLimits)) ||
		slices.Contains(r.Controls, string(runtime.ControlOSSandbox)) ||
		r.Capability == string(policy.NoCapability) && len(r.Constrained) > 0
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

func needsApproval(j *spec.Job, r ledger.Route) bool {
	return !policy.Risk(r.Risk).Less(policy.R3) || j.Approval == "require"
}

// approvalBlock says what a person would be approving.
func approvalBlock(j *spec.Job, r ledger.Route) *route.Block {
	why := r.Risk + " (" + r.RiskWhy + ")"
	if j.Approval == "require" {
		why = "approval: require"
	}
	work := "its prompt"
	if j.Exec() {
		work = fmt.Sprintf("the command %q", j.Command)
	}
	detail := fmt.Sprintf("%s: ask the user. They would be approving %s, effect %s, in %s, on %s", why, work, j.Effect, j.Cwd, r.Runtime)
	if j.Preview != "" {
		detail += "; preview: " + j.Preview
	}
	if j.Rollback != "" {
		detail += "; rollback: " + j.Rollback
	}
	return &route.Block{
		Reason: runtime.BlockedApproval, Detail: detail,
		NextStep: "approvals are not available yet: do this step by hand, or change the job so that it needs none",
	}
}

// Bypass finds an argument that switches a runtime's permission checks or sandbox
// off; "" when there is none. It is asked about the commands of agents, never about
// a plain program's own arguments.
func Bypass(argv []string) string { return runtime.Bypass(argv) }
