package engine

import (
	"slices"

	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
)

// What a resumed run does about jobs that ended without an attempt, and about those that
// only needed others to end.

// takesUp reports whether a job that did not succeed is done again whatever becomes of the
// others: see pastJob.awaits.
func (r *run) takesUp(pj *pastJob, req ResumeRequest) bool {
	return !req.Continues && !req.Stop && pj.awaits(req.RetryFailed)
}

// made reports whether the engine itself made a job's end, of how others ended: then it is
// made again where one of these is done again.
func made(j *spec.Job, pj *pastJob) bool {
	return j.Gathers() || pj.status.Status == ledger.Skipped || pj.status.Attempts == 0 && j.AfterAll
}

// whyMadeAgain says why such an end does not hold any more, "" = it does.
func (r *run) whyMadeAgain(j *jobRun, pj *pastJob) string {
	job := j.planned.Job
	if why := r.underStale(job); why != "" {
		return why
	}
	if pj.status.Status != ledger.Success {
		return ""
	}
	data, err := r.led.ReadFile(ledger.JobPath(job.ID, ledger.OutputFile))
	if err != nil || pj.work == nil || digest(data) != pj.work.Output {
		return ledger.JobPath(job.ID, ledger.OutputFile) + " is not what it was"
	}
	return ""
}

// underStale says which of those that a job depends on has to be done again, "" = none.
func (r *run) underStale(job *spec.Job) string {
	i := slices.IndexFunc(job.DependsOn, func(id string) bool {
		d := r.jobs[id]
		over := d.status != nil && d.stale == "" && !d.redone
		return !over || !d.status.Status.Well() && (!job.AfterAll || !d.status.Status.Settled())
	})
	if i < 0 {
		return ""
	}
	return "job " + job.DependsOn[i] + ", on which it builds, has to be done again"
}
