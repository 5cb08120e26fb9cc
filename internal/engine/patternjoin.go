package engine

import (
	"fmt"
	"slices"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// mayJoin settles a job that joins others where there is nothing to join, or too little.
func (r *run) mayJoin(j *jobRun, joined []string) (d closed, over bool) {
	job := j.planned.Job
	// Those that it only depends on must have succeeded, however many of the joined need not.
	others := slices.DeleteFunc(slices.Clone(job.DependsOn), func(id string) bool { return slices.Contains(joined, id) })
	if len(r.amiss(others)) > 0 {
		return r.dependent(j, others), true
	}
	well, ended, skipped := 0, 0, 0
	for _, id := range joined {
		switch r.statusNow(id) {
		case ledger.Success:
			well++
			ended++
		case ledger.Failed:
			ended++
		case ledger.Skipped:
			skipped++
		}
	}
	switch {
	case skipped == len(joined):
		return r.nothingToJoin(j, joined), true
	case well >= job.Require:
		return closed{}, false
	case ended == 0:
		return r.dependent(j, joined), true
	}
	why := fmt.Sprintf("%d of %d succeeded, %d required", well, len(joined)-skipped, job.Require)
	if there := len(joined) - skipped; there < job.Require {
		why += fmt.Sprintf(" (%d more were not needed, so there are fewer than that)", skipped)
	}
	if bad := r.amiss(joined); len(bad) > 0 {
		why += ": " + some(bad)
	}
	return closed{status: r.unattempted(job.ID, ledger.Failed, runtime.ReasonTooFew, untrusted.From(why))}, true
}

// nothingToJoin skips a job that would have been paid for bringing nothing together. A list
// without items is also the usual way in which whoever makes it goes wrong, so that it is
// said to whoever follows the run and in its report.
func (r *run) nothingToJoin(j *jobRun, joined []string) closed {
	why := ledger.NothingToJoin + joined[0] + " was not needed"
	if evidence := r.jobs[joined[0]].status.ReasonEvidence; !evidence.Empty() {
		why += " (" + evidence.Line(0) + ")"
	}
	r.tell(fmt.Sprintf("job %s was not done and has no result: %s", j.planned.Job.ID, why))
	return r.skip(j, why)
}
