package engine

import (
	"time"

	"orchestrate/internal/ledger"
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
