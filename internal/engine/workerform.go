package engine

import (
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
)

// The worker form is a run like any other, kept in the folder of its worker run, whose
// tasks get the person's own words and whom nobody reviews.

// createRun makes the run directory: below plans/reports, or in the worker run.
func (p *Plan) createRun(now time.Time) (*ledger.Run, error) {
	if p.Request.Worker != "" {
		return ledger.CreateIn(p.Request.Worker)
	}
	return ledger.Create(p.Root, now)
}

// orderTasks says how runtimes are chosen for a task: the coordinator's usual order breaks
// ties, and a model alone is only that of a runtime which says so.
func (p *Plan) orderTasks(in *route.Input) {
	if p.Spec.Worker {
		in.Order, in.Listed = runtime.WorkerOrder(), true
	}
}
