package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/supervise"
	"orchestrate/internal/untrusted"
)

// reconcile brings the ledger up to what is true now: attempts that still run, or
// ended while nobody watched, are carried on; those that died are ended for good and
// recorded; what is to be done again goes back to the queue.
func (r *run) reconcile(ctx context.Context, old *past, req ResumeRequest) error {
	for i := range r.plan.Jobs {
		id := r.plan.Jobs[i].Job.ID
		if pj := old.job(id); pj.open {
			a := r.attemptOf(id, pj)
			a.alone = old.alone(id)
			if err := r.takeUp(ctx, a); err != nil {
				return err
			}
		}
	}
	if pj := old.jobs[ledger.ArbiterJob]; pj != nil && pj.open {
		if err := r.takeUp(ctx, r.attemptOf(ledger.ArbiterJob, pj)); err != nil {
			return err
		}
	}
	if err := r.mendFiles(old); err != nil {
		return err
	}
	if req.Stop {
		r.standAsTheyAre()
		return nil
	}
	if err := r.requeue(old, req); err != nil {
		return err
	}
	if err := r.dropStale(ctx); err != nil {
		return err
	}
	r.endAgain(ctx, old)
	r.restoreTries(old)
	r.standAsTheyAre()
	return r.led.Append() // what was noted so far is durable before anything starts
}

// attemptOf is the newest attempt of a job as an engine before began it.
func (r *run) attemptOf(id string, pj *pastJob) *attempt {
	n := len(pj.routes)
	a := &attempt{n: n, route: pj.routes[n-1], begun: pj.begun, taken: true, from: pj.events, injected: pj.injected, dir: r.led.JobDir(id)}
	if j := r.jobs[id]; j != nil {
		a.job = j.planned.Job
		j.route = a.route
		return a
	}
	a.job = route.ArbiterJob(r.plan.Spec.Arbiter, r.plan.Root)
	return a
}

// takeUp decides what becomes of an attempt that has no end in the journal.
func (r *run) takeUp(ctx context.Context, a *attempt) error {
	id := a.job.ID
	if a.internal() {
		if ok, err := r.takeUpInternal(ctx, a); ok || err != nil {
			return err
		}
	}
	held, err := r.led.AttemptLock(id)
	if errors.Is(err, fs.ErrNotExist) && r.ran(a) {
		return r.takeUpLockless(ctx, a)
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && held.Attempt != a.n {
		a.dir = "" // what is in the job's directory is not this attempt's
		return r.cutOff(ctx, a, "its engine died before anything was started", nothingStarted)
	}
	if err != nil {
		return err
	}
	if held.Furnished == nil {
		return r.cutOff(ctx, a, "its engine died before its program was started", nothingStarted)
	}
	r.equipAgain(ctx, a, *held.Furnished)
	// Held, though nobody says so yet: an invocation may be on its way.
	switch a.lock, err = r.led.Retake(id); {
	case errors.Is(err, ledger.ErrHeld):
		a.handed = true
		return r.carryOn(a, "still runs and is taken over")
	case err != nil:
		return err
	}
	if held, err = r.led.AttemptLock(id); err != nil {
		return errors.Join(err, a.lock.Close())
	}
	if held.Supervisor == nil {
		defer a.release()
		return r.cutOff(ctx, a, "its engine died before its program was started", nothingStarted)
	}
	return r.takeUpIdle(ctx, a)
}

// ran reports whether the job's directory holds what only the attempt's supervisor can
// have left there.
func (r *run) ran(a *attempt) bool {
	if _, err := r.readExit(a); err == nil {
		return true
	}
	_, err := r.led.ReadFile(ledger.JobPath(a.job.ID, ledger.EventsFile))
	return err == nil
}

// lockless is how long the supervisor of a program that was ended may take to go,
// where nothing tells who it is.
const lockless = 3 * time.Second

// takeUpLockless does it for an attempt whose lock somebody took away. What it did
// cannot be settled; what is left of it is found by its mark.
func (r *run) takeUpLockless(ctx context.Context, a *attempt) error {
	a.handed = true
	proof, err := supervise.End(context.WithoutCancel(ctx), r.remains(a))
	if err != nil {
		r.note(ledger.Noted(a.job.ID, r.redact.String(err.Error())))
	}
	for end := time.Now().Add(lockless); proof.Gone && time.Now().Before(end); time.Sleep(adoptEvery) {
		if _, err := r.readExit(a); err == nil {
			break
		}
	}
	if err := errors.Join(r.takeIn(a), a.unsearched); err != nil {
		return err
	}
	return r.cutOff(ctx, a, ledger.JobPath(a.job.ID, ledger.AttemptLockFile)+" is gone, so what it did cannot be settled", proof)
}

// takeUpIdle does it for an attempt whose supervisor has let go of it.
func (r *run) takeUpIdle(ctx context.Context, a *attempt) error {
	a.handed = true
	_, err := r.readExit(a)
	if err == nil {
		return r.carryOn(a, "ended while no engine was there")
	}
	defer a.release()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	proof := r.endRemains(ctx, a)
	if err := errors.Join(r.takeIn(a), a.unsearched); err != nil {
		return err
	}
	a.exit.Proof = proof
	return r.cutOff(ctx, a, cmp.Or(r.cutInSetUp(a), "its supervisor died"), proof)
}

// nothingStarted is the proof for an attempt that never had a process.
var nothingStarted = supervise.Proof{Level: supervise.ProofNone, Gone: true, Left: []supervise.Process{}}

func (r *run) carryOn(a *attempt, why string) error {
	r.note(ledger.Noted(a.job.ID, fmt.Sprintf("attempt %d %s", a.n, why)))
	r.carried[a.job.ID] = a
	return nil
}

// readExit is what the supervisor left of the attempt; fs.ErrNotExist when it has
// not ended, or its supervisor died, or a power loss left its file empty or torn.
func (r *run) readExit(a *attempt) (supervise.Exit, error) {
	var exit supervise.Exit
	data, err := r.led.ReadFile(ledger.JobPath(a.job.ID, ledger.ExitFile))
	if err != nil {
		return exit, err
	}
	if err := json.Unmarshal(data, &exit); err != nil {
		return exit, fmt.Errorf("%s: %w: %w", r.led.Path(a.job.ID, ledger.ExitFile), err, fs.ErrNotExist)
	}
	if exit.Attempt != a.n {
		return exit, fs.ErrNotExist
	}
	return exit, nil
}

// cutOff records that an attempt was cut off. Where its processes are not proven to
// have ended, nothing more of the job is started; where they are, its work is taken first.
func (r *run) cutOff(ctx context.Context, a *attempt, why string, proof supervise.Proof) error {
	a.exit.Proof = proof
	r.dropPrivate(a)
	work := r.takeWork(context.WithoutCancel(ctx), a)
	s := r.statusOf(a)
	s.Status, s.Reason, s.ReasonEvidence = ledger.Interrupted, runtime.ReasonCutOff, untrusted.From(why)
	s = cleaned(r, s)
	record := ledger.AttemptEnded(s)
	if r.stopping {
		record = ledger.Settle(s) // nothing follows
	}
	record.Work = work
	if err := r.led.Append(record); err != nil {
		return err
	}
	if j := r.jobs[a.job.ID]; j != nil {
		j.ended = append(j.ended, s)
		if work != nil && work.Masked {
			j.noteMasked(a.n)
		}
		if r.stopping {
			j.stands(arbiter.JobFacts{Job: a.job, ID: a.job.ID, Exec: a.job.Exec(), Status: s})
		}
	} else {
		r.arbiters = append(r.arbiters, s)
	}
	if a.dir != "" {
		if err := r.led.WriteJSON(ledger.JobPath(a.job.ID, ledger.StatusFile), s); err != nil {
			return err
		}
	}
	return nil
}

// mendFiles writes the files of ended attempts that an engine could not write any more
// after it had recorded their end.
func (r *run) mendFiles(old *past) error {
	for id, pj := range old.jobs {
		if pj.open || len(pj.all) == 0 {
			continue
		}
		s := pj.all[len(pj.all)-1]
		held, err := r.led.AttemptLock(id)
		if errors.Is(err, fs.ErrNotExist) || err == nil && held.Attempt != s.Attempts {
			continue // it has no directory
		}
		if err != nil {
			return err
		}
		if data, err := r.led.ReadFile(ledger.JobPath(id, ledger.StatusFile)); err == nil {
			var there ledger.JobStatus
			if json.Unmarshal(data, &there) == nil && there.Attempts == s.Attempts {
				continue
			}
		}
		if err := r.led.WriteJSON(ledger.JobPath(id, ledger.StatusFile), s); err != nil {
			return err
		}
		if held.Furnished != nil && held.Supervisor != nil && held.Furnished.Decoder != runtimeExec && held.Furnished.Decoder != runtime.Internal {
			a := r.attemptOf(id, pj)
			f := held.Furnished
			a.at, a.resumes = place{dir: f.Dir, top: f.Top, isolated: f.Isolated}, f.Resumes
			if err := r.led.WriteJSON(ledger.JobPath(id, ledger.SessionFile), sessionOf(a, s, pj.work)); err != nil {
				return err
			}
		}
	}
	return nil
}

// requeue puts back what is to be done again: what was cut off or blocked, what
// failed if that is asked for, and successes that do not hold any more.
func (r *run) requeue(old *past, req ResumeRequest) error {
	for i := range r.plan.Jobs {
		id := r.plan.Jobs[i].Job.ID
		j, pj := r.jobs[id], old.job(id)
		why := j.stale
		if !req.Continues && pj.awaits(req.RetryFailed) {
			why = fmt.Sprintf("it was %s: %s", pj.status.Status, pj.status.Reason)
		}
		if why == "" || pj.open {
			continue
		}
		if err := r.putBack(j, pj, why); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) putBack(j *jobRun, pj *pastJob, why string) error {
	id := j.planned.Job.ID
	if err := r.led.Append(ledger.Requeued(id, r.redact.String(why))); err != nil {
		return err
	}
	*j = jobRun{planned: j.planned, route: j.planned.Route, reprobed: map[string]bool{}, ran: j.ran, ended: j.ended, shared: j.shared, maskedIn: j.maskedIn, again: why}
	pj.ended = nil
	if len(pj.routes) > 0 {
		return nil
	}
	// Both speak of no attempt, and no attempt will write them anew: what the job had gathered
	// would else be shown of it for as long as there is nothing new.
	err := r.led.Remove(ledger.JobPath(id, ledger.StatusFile))
	return errors.Join(err, r.led.Remove(ledger.JobPath(id, ledger.OutputFile)))
}

// dropStale ends attempts under way that build on what has to be done again.
func (r *run) dropStale(ctx context.Context) error {
	for _, id := range r.plan.Graph.Order() {
		a := r.carried[id]
		if a == nil {
			continue
		}
		for _, on := range a.job.DependsOn {
			if s := r.jobs[on].status; s != nil && (s.Status.Well() || a.job.AfterAll && s.Status.Settled()) {
				continue
			}
			if err := r.drop(ctx, a, "job "+on+", on which it builds, has to be done again"); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// drop ends an attempt that an engine before began and that is of no use any more.
func (r *run) drop(ctx context.Context, a *attempt, why string) error {
	delete(r.carried, a.job.ID)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	defer a.release()
	if a.internal() {
		return r.dropInternal(ctx, a, why)
	}
	if err := r.adopt(ended, a); err != nil {
		return err
	}
	return r.cutOff(ctx, a, why, a.exit.Proof)
}

// endAgain looks once more for what is left of attempts that were not proven to have
// ended, before their jobs are dispatched again.
func (r *run) endAgain(ctx context.Context, old *past) {
	for id, j := range r.jobs {
		if len(j.ended) == 0 || j.status != nil || r.carried[id] != nil {
			continue
		}
		p := j.ended[len(j.ended)-1].Proof
		if p == nil || p.Gone {
			continue
		}
		if proof := r.remainsOf(ctx, id, old.job(id), p); !proof.Gone {
			r.unproven[id] = proof
		} else {
			delete(r.unproven, id)
		}
	}
}

// restoreTries recalls what was decided about a job that waits for its next attempt,
// so that a crash grants it no more, and no other, than the spec does. A runtime that
// said for how long it is busy is held back as before; whether a quota is back is for
// the next attempt to find out.
func (r *run) restoreTries(old *past) {
	maps.Copy(r.paused, old.paused)
	maps.Copy(r.failures, old.failures)
	for i := range r.plan.Jobs {
		id := r.plan.Jobs[i].Job.ID
		j := r.jobs[id]
		if j.status != nil && j.status.Status.Settled() {
			continue
		}
		failed := old.job(id).failures()
		for k, rec := range failed {
			j.tries++
			if rec.Next != nil && rec.Next.Moved && rec.Settled.Route != nil {
				j.tried = append(j.tried, route.TriedOn(*rec.Settled.Route, rec.Reason))
				j.tries, j.moves = 0, j.moves+1
			}
			if rec.Next != nil && rec.Next.NotBefore != nil && k == len(failed)-1 && r.carried[id] == nil {
				r.due[id] = *rec.Next.NotBefore
			}
		}
		if r.carried[id] != nil {
			j.tries++
		}
	}
}

// standAsTheyAre tells the graph which jobs are over.
func (r *run) standAsTheyAre() {
	for _, id := range r.plan.Graph.Order() {
		j := r.jobs[id]
		if j.status == nil || r.carried[id] != nil {
			continue
		}
		switch j.status.Status {
		case ledger.Success, ledger.Skipped:
			r.tracker.Settle(id, true, "")
		case ledger.Failed, ledger.Blocked: // blocked: of a run that goes on as it was
			r.settleOrder(id, false, fmt.Sprintf("%s: %s", j.status.Status, j.status.Reason))
		case ledger.Interrupted:
			r.tracker.Start(id)
			r.tracker.Leave(id)
		}
	}
}

// blockUnproven settles the jobs of which something may still run.
func (r *run) blockUnproven() {
	for id, proof := range r.unproven {
		r.block(id, route.Block{
			Reason: runtime.BlockedTreeUnproven, Detail: unprovenDetail(proof),
			NextStep: r.unprovenStep(id, proof),
		})
		r.settleOrder(id, false, "blocked: "+string(runtime.BlockedTreeUnproven))
	}
}

func unprovenDetail(p supervise.Proof) string {
	if p.Level == proofStated {
		return "whoever of the hosting session had its attempt before has not said that it has ended, and could still write"
	}
	return "what an earlier attempt started is not proven to have ended: " + left(p)
}

// unprovenStep is what a person can do about it. Where nothing of the tree can be
// seen, as on another machine, only they can know that it is gone.
func (r *run) unprovenStep(id string, p supervise.Proof) string {
	if p.Level == proofStated {
		return "" // the table of next steps says it: the end may be stated meanwhile
	}
	if len(p.Left) > 0 {
		return "" // the table of next steps names them
	}
	lock := ledger.JobPath(id, ledger.AttemptLockFile)
	held, err := r.led.AttemptLock(id)
	if err != nil || held.Supervisor == nil {
		return fmt.Sprintf("make sure that nothing of it runs, remove %s, then `orchestrate resume %s`", lock, r.led.ID)
	}
	return fmt.Sprintf("go on with the run on the machine where it ran (%s, supervisor pid %d); or, if that has been restarted or is gone, remove %s, then `orchestrate resume %s`",
		held.Supervisor.Host, held.Supervisor.PID, lock, r.led.ID)
}

// left names what is left of a tree.
func left(p supervise.Proof) string {
	var all []string
	for _, l := range p.Left {
		all = append(all, fmt.Sprintf("pid %d", l.PID))
	}
	if len(all) == 0 {
		return "it cannot be seen from here"
	}
	return some(all)
}
