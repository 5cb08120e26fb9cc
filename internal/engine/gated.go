package engine

import (
	"orchestrate/internal/arbiter"
	"orchestrate/internal/gate"
)

// gated asks the gate once more, of the route that is on the record of an attempt that
// is over: what was let through must hold the controls of its tier, and a person must
// have approved what needs it. The gate said so before; layer 1 takes nobody's word.
func (r *run) gated(f *arbiter.JobFacts) {
	route := f.Status.Route
	if route == nil {
		return // that it has none is a finding already
	}
	if block := gate.Controls(f.Job, *route, r.plan.Sandbox); block != nil {
		f.Lacking = block.Detail
	}
	if !r.plan.Request.Rehearse && gate.NeedsApproval(f.Job, *route) && r.approvedBy(f.ID) == "" {
		f.Unapproved = "it was done without the approval that it needs: " + route.Risk + " (" + route.RiskWhy + ")"
	}
}
