package engine

import (
	"context"

	"orchestrate/internal/ledger"
)

// freshen holds what a job left against what was recorded of it when it was settled: what
// the arbiter is about to be shown is that, or a rule is broken. The work of a run that
// goes on was held against its record when the run was taken up.
func (r *run) freshen(ctx context.Context, j *jobRun) {
	if j.work == nil || j.recalled || j.status == nil || j.status.Status != ledger.Success {
		return
	}
	ctx = context.WithoutCancel(ctx) // a question that was cut off is no answer
	job := j.planned.Job
	if data, err := r.led.ReadFile(ledger.JobPath(job.ID, ledger.OutputFile)); err != nil || digest(data) != j.work.Output {
		j.facts.Differs = append(j.facts.Differs, ledger.OutputFile)
	}
	for _, a := range j.status.Artifacts {
		if a.Source != "tree" && r.artifactStale(ctx, job, a) != "" { // later jobs may go on in the tree
			j.facts.Differs = append(j.facts.Differs, a.Path)
		}
	}
	j.facts.Moved = r.patchStale(ctx, job, j.work)
}
