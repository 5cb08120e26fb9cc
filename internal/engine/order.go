package engine

import (
	"cmp"
	"fmt"

	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// order is the run as the dispatch loop sees its graph. The loop's own goroutine
// calls it.
type order run

// ReadyIf implements dispatch.Graph.
func (o *order) ReadyIf(most int, can func(string) bool) []string {
	(*run)(o).decideReleased()
	return o.tracker.ReadyIf(most, can)
}

// Start implements dispatch.Graph.
func (o *order) Start(id string) {
	o.tracker.Start(id)
	(*run)(o).reserve(id)
	(*run)(o).inSession(id, true)
}

// Return implements dispatch.Graph.
func (o *order) Return(id string) {
	(*run)(o).inSession(id, false)
	o.tracker.Return(id)
}

// Settle implements dispatch.Graph. An interrupted job blocks nobody: those that
// depend on it stay queued for a resumed run.
func (o *order) Settle(id string, ok bool) {
	r := (*run)(o)
	r.inSession(id, false)
	status := r.jobs[id].status
	if status != nil && status.Proof != nil && !status.Proof.Gone {
		r.tracker.Keep(id)
	}
	if status == nil || !status.Status.Settled() || status.Status == ledger.Interrupted {
		r.tracker.Leave(id)
		return
	}
	r.settleOrder(id, ok, fmt.Sprintf("%s: %s", status.Status, status.Reason))
}

// settleOrder tells the graph that a job is over and records whom that blocks.
func (r *run) settleOrder(id string, ok bool, why string) {
	var all []ledger.JobStatus
	root := r.rootOf(id)
	for _, b := range r.tracker.Settle(id, ok, why) {
		if s := r.jobs[b.ID].status; s != nil && s.Status == ledger.Blocked {
			continue // on record already
		}
		all = append(all, r.undispatched(b.ID, runtime.BlockedDependency, cmp.Or(root, b.Detail)))
	}
	r.settleUnstarted(all...)
}

// blockPlanned settles the jobs that no route was found for.
func (r *run) blockPlanned() {
	independent := r.plan.judgeless()
	for i := range r.plan.Jobs {
		pl := &r.plan.Jobs[i]
		block := r.jobs[pl.Job.ID].block
		if pl.Job.Gathers() {
			continue // what its members came to decides
		}
		if independent { // nothing is paid for that nobody independent can judge
			block = r.plan.Arbiter.Block
		}
		if block == nil || r.jobs[pl.Job.ID].status != nil || r.carried[pl.Job.ID] != nil {
			continue
		}
		r.block(pl.Job.ID, *block)
		r.settleOrder(pl.Job.ID, false, fmt.Sprintf("blocked: %s", block.Reason))
	}
}

// block settles a job that cannot be dispatched.
func (r *run) block(id string, why route.Block) {
	r.jobs[id].next = why.NextStep
	r.settleUnstarted(r.undispatched(id, why.Reason, why.Detail))
}

// undispatched is the status of a job that is not dispatched, remembered as its own.
func (r *run) undispatched(id string, reason runtime.Reason, detail string) ledger.JobStatus {
	return r.unattempted(id, ledger.Blocked, reason, untrusted.From(detail))
}

// settleUnstarted records that jobs will not be dispatched: in the journal first.
func (r *run) settleUnstarted(all ...ledger.JobStatus) {
	ended := make([]closed, len(all))
	for i, s := range all {
		ended[i].status = s
	}
	r.settleDecided(ended...)
}
