package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// What the engine itself makes of jobs of a pattern, once what they depend on is over: the
// result of one that gathers, a round that is not needed, an item that the list has not.
// None of that takes a slot or an attempt.

// closed is what became of a job without an attempt.
type closed struct {
	status ledger.JobStatus
	work   *ledger.Work // what a later resume asks about, nil = nothing
	answer []byte       // output.md, nil = it has none
}

// decideReleased settles, of all jobs that could begin now, those that need no attempt, and
// then those that can begin because of that. It belongs to the dispatch loop's goroutine.
func (r *run) decideReleased() {
	for {
		var all []closed
		for _, id := range r.tracker.Released() {
			j := r.jobs[id]
			if j.needed {
				continue
			}
			if d, over := r.decide(j); over {
				all = append(all, d)
			} else {
				j.needed = true
			}
		}
		if len(all) == 0 || !r.settleDecided(all...) {
			return
		}
		for _, d := range all {
			r.settleOrder(d.status.ID, d.status.Status.Well(), fmt.Sprintf("%s: %s", d.status.Status, d.status.Reason))
		}
	}
}

// decide says what becomes of a job whose turn has come; not over = somebody has to do it.
func (r *run) decide(j *jobRun) (d closed, over bool) {
	if d, over := r.itemOf(j); over {
		return d, true
	}
	job := j.planned.Job
	if job.Round != nil {
		why, err := r.unneeded(job.Round)
		if err != nil {
			return r.unmade(j, err), true
		}
		if why != "" {
			return r.skip(j, why), true
		}
	}
	switch {
	case job.Gather != nil:
		return r.gatherUp(j), true
	case job.Joined() != nil:
		return r.mayJoin(j, job.Joined())
	}
	return closed{}, false
}

func (r *run) skip(j *jobRun, why string) closed {
	return closed{status: r.unattempted(j.planned.Job.ID, ledger.Skipped, runtime.NotNeeded, untrusted.From(why))}
}

// unmade is a job of whose result the engine could make nothing.
func (r *run) unmade(j *jobRun, err error) closed {
	return closed{status: r.unattempted(j.planned.Job.ID, ledger.Failed, runtime.ReasonCrash, untrusted.From(err.Error()))}
}

// dependent is a job that can make nothing of others because these came to nothing; where
// none of them was needed, it is not either.
func (r *run) dependent(j *jobRun, of []string) closed {
	bad := r.amiss(of)
	if len(bad) == 0 {
		return r.skip(j, "none of what it gathers was needed")
	}
	return closed{status: r.unattempted(j.planned.Job.ID, ledger.Blocked, runtime.BlockedDependency, untrusted.From(bad[0]))}
}

// amiss are those of these jobs that did not end well, each with how it ended.
func (r *run) amiss(ids []string) (all []string) {
	for _, id := range ids {
		if root := r.rootOf(id); root != "" {
			if !slices.Contains(all, root) { // as it is for all that it blocks
				all = append(all, root)
			}
		} else if s := r.jobs[id].status; s != nil && !s.Status.Well() {
			all = append(all, fmt.Sprintf("%s %s: %s", id, s.Status, s.Reason))
		}
	}
	return all
}

// rootOf is what blocked a job that is blocked because of others: the one that these are
// blocked by, too, and how that ended. "" = its end is its own.
func (r *run) rootOf(id string) string {
	s := r.jobs[id].status
	if s == nil || s.Status != ledger.Blocked || s.Reason != runtime.BlockedDependency {
		return ""
	}
	return s.ReasonEvidence.Line(0)
}

// statusNow is where a job stands that has ended or waits; "" = it has not begun.
func (r *run) statusNow(id string) ledger.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j := r.jobs[id]; j != nil && j.status != nil {
		return j.status.Status
	}
	return ""
}

// answerOf is the final answer that a job left, "" = none.
func (r *run) answerOf(id string) (string, error) {
	data, err := r.led.ReadFile(ledger.JobPath(id, ledger.OutputFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(data), err
}

// unattempted is the status of a job that ends without an attempt, remembered as its own.
func (r *run) unattempted(id string, status ledger.Status, reason runtime.Reason, evidence untrusted.Text) ledger.JobStatus {
	j := r.jobs[id]
	job := j.planned.Job
	s := r.statusOf(&attempt{job: job, route: j.route})
	s.Status, s.Reason, s.ReasonEvidence = status, reason, evidence
	s.Attempts = r.attempts[id] // of earlier times, if any
	if n := len(j.ended); n > 0 {
		s.Proof = j.ended[n-1].Proof
	}
	if job.Gathers() {
		s.Route = nil // nobody is asked
	}
	s = cleaned(r, s)
	r.mu.Lock()
	defer r.mu.Unlock()
	j.stands(arbiter.JobFacts{Job: job, ID: id, Exec: job.Exec(), Status: s, Probed: r.probedHere(s.Runtime)})
	return s
}

// settleDecided records how jobs ended that had no attempt: in the journal before any file
// says so. It reports whether that could be done.
func (r *run) settleDecided(all ...closed) bool {
	if len(all) == 0 {
		return true
	}
	var err error
	recs := make([]ledger.Record, 0, len(all))
	for _, d := range all {
		if d.answer != nil && err == nil {
			err = r.led.WriteFile(ledger.JobPath(d.status.ID, ledger.OutputFile), d.answer)
		}
		rec := ledger.Settle(d.status)
		rec.Work = d.work
		recs = append(recs, rec)
	}
	if err == nil {
		err = r.led.Append(recs...)
	}
	for _, d := range all {
		if err == nil && d.status.Attempts == 0 { // else the file tells of the attempt
			err = r.led.WriteJSON(ledger.JobPath(d.status.ID, ledger.StatusFile), d.status)
		}
	}
	r.fail(err)
	return err == nil
}

// standsFor is the job whose outputs a job's are: of one that gathers a repair's rounds of
// work that is the last of them that was done, else the job itself.
func (r *run) standsFor(id string) string {
	rounds := r.plan.ownRounds(id)
	for i := len(rounds) - 1; i >= 0; i-- {
		if r.statusNow(rounds[i]) == ledger.Success {
			return rounds[i]
		}
	}
	return id
}

// ownRounds are the rounds of work that a job gathers as its own, nil = it gathers none.
func (p *Plan) ownRounds(id string) []string {
	pl, ok := p.Planned(id)
	if !ok || pl.Job.Gather == nil || len(pl.Job.Gather.Work) == 0 {
		return nil
	}
	work := pl.Job.Gather.Work
	if first, ok := p.Planned(work[0]); !ok || first.Job.Part == nil || first.Job.Part.Of != id {
		return nil // it gathers the verifications
	}
	return work
}

// needsItem reports whether a job is for an item of a list that another job makes.
func needsItem(j *spec.Job) bool { return j.Item != nil && j.Item.From != nil }
