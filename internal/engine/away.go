package engine

import (
	"context"
	"fmt"

	"orchestrate/internal/dispatch"
	"orchestrate/internal/failpoint"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// A job that the hosting session carries out is made ready like any other. Then its
// request is left for the session, it takes no slot any more, and it is settled like any
// other when something has come back: whether under this engine or a later one.

// internal reports whether the hosting session carries the attempt out.
func (a *attempt) internal() bool { return a.route.Runtime == runtime.Internal }

// hosted reports whether a job's next attempt would be the session's, or its present one is.
// r.mu is held.
func (r *run) hosted(id string) bool {
	if a := r.carried[id]; a != nil {
		return a.internal()
	}
	return r.jobs[id].route.Runtime == runtime.Internal
}

// underWayAt is attempt n of a job if it has begun already, under this engine or one
// before; nil = it has not.
func (r *run) underWayAt(id string, n int) *attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range []*attempt{r.away[id], r.carried[id]} {
		if a != nil && a.n == n {
			return a
		}
	}
	return nil
}

// Back implements dispatch.Backend: something was handed in, or whoever had the job is
// not waited for any longer.
func (b *backend) Back(job string) bool {
	r := (*run)(b)
	r.mu.Lock()
	a := r.away[job]
	r.mu.Unlock()
	if a == nil {
		return true
	}
	back, err := r.fromSession(a)
	return err != nil || back.submission != nil || back.lapsed(a)
}

// sendOut is the turn of an attempt that the session carries out: it is made ready and
// handed out, or, if something has come back, settled. away = it is with the session.
func (r *run) sendOut(ctx context.Context, slot int, a *attempt) (s settlement, how policy.Settlement, away bool) {
	if a.request == nil {
		if ended := r.makeReady(ctx, slot, a); ended != nil {
			return s, *ended, false
		}
	}
	a.turn.Await(ctx, dispatch.StepHanded)
	if r.statusIn(a.job.ID) != ledger.Awaiting && ctx.Err() == nil {
		if err := r.led.Append(ledger.AwaitingSession(a.job.ID, a.n)); err != nil {
			r.fail(err)
			return s, policy.Settlement{}, true
		}
		failpoint.Hit(failpoint.HandedOut)
	}
	a.turn.Leave()
	r.comeOut(ctx, a)
	back, err := r.fromSession(a)
	if over := ctx.Err() != nil || back.lapsed(a); err == nil && back.submission == nil {
		if !over {
			return s, how, true
		}
		if back, err = r.closeRequest(ctx, a); err == nil && back.submission == nil {
			how = r.withoutResult(ctx, a, back)
			r.comeBack(ctx, a, &s)
			return s, how, false
		}
	}
	failpoint.Hit(failpoint.HandedIn)
	s, how = r.takeBack(ctx, slot, a, back, err)
	return s, how, false
}

// makeReady does all that comes before an attempt is handed out, and leaves its request.
// It returns how the attempt ended if that could not be done.
func (r *run) makeReady(ctx context.Context, slot int, a *attempt) *policy.Settlement {
	defer r.dropPrivate(a) // its checks get another
	if err := r.prepare(ctx, a); err != nil {
		how := notBegun(ctx, err)
		return &how
	}
	if how := r.setUp(ctx, slot, a); how != nil {
		return how
	}
	request := r.requestFor(a)
	if err := r.led.WriteJSON(ledger.JobPath(a.job.ID, ledger.RequestFile), request); err != nil {
		how := notBegun(ctx, err)
		return &how
	}
	a.request = &request
	failpoint.Hit(failpoint.RequestThere)
	return nil
}

// notBegun is the end of an attempt that came to no program.
func notBegun(ctx context.Context, err error) policy.Settlement {
	if ctx.Err() != nil {
		return policy.Settlement{Status: ledger.Interrupted, Reason: runtime.ReasonCancelled, Evidence: untrusted.From("cancelled before its program ran")}
	}
	return policy.Settlement{Status: ledger.Failed, Reason: runtime.ReasonSpawn, Evidence: untrusted.From(err.Error())}
}

// comeOut counts an attempt among those under way from when it is handed out. Its lock is
// free meanwhile: nothing of ours holds it.
func (r *run) comeOut(ctx context.Context, a *attempt) {
	r.mu.Lock()
	out := r.away[a.job.ID] == a
	r.away[a.job.ID] = a
	r.mu.Unlock()
	if !out {
		r.enter(ctx, a)
		r.join(a)
	}
	a.taken = true
}

// comeBack takes it out again when it has been settled.
func (r *run) comeBack(ctx context.Context, a *attempt, left *settlement) {
	r.depart(ctx, a, left)
	r.leave()
	r.forget(a)
}

// forget takes an attempt out of those under way: what comes after it is another one.
func (r *run) forget(a *attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.away, a.job.ID)
	delete(r.carried, a.job.ID)
}

// withoutResult is how an attempt ends that is not waited for any longer.
func (r *run) withoutResult(ctx context.Context, a *attempt, back fromSession) policy.Settlement {
	r.leftBySession(a, back)
	how := policy.Settlement{Status: ledger.Interrupted, Reason: runtime.ReasonCancelled, Evidence: untrusted.From("stopped on request while it was with the hosting session")}
	switch why := r.budgetThatEnded(); {
	case ctx.Err() == nil:
		how.Reason, how.Evidence = runtime.ReasonLeaseLapsed, untrusted.From(back.overdue())
	case why != "":
		how = policy.Settlement{Status: ledger.Failed, Reason: runtime.ReasonBudget, Evidence: untrusted.From(why + ", and nothing had come back from the hosting session")}
	}
	return how
}

// overdue says whose lease ran out.
func (b fromSession) overdue() string {
	who := "whoever took it"
	if b.lease.By != "" {
		who = b.lease.By
	}
	return fmt.Sprintf("%s did not hand it in by %s, when the lease ended, and it was wanted again", who, pointInTime(b.lease.Until))
}

// sessionRuns reports whether the hosting session has, or could be given, work of this run.
func (r *run) sessionRuns() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.away) > 0
}

// fullAway reports whether as many attempts are with the session as the run has slots.
// r.mu is held.
func (r *run) fullAway(id string) bool {
	return r.hosted(id) && len(r.handedOut) >= r.plan.Spec.Concurrency
}

// inSession remembers which begun jobs are the session's: they take no slot, but no more
// of them are out at once than there are.
func (r *run) inSession(id string, begun bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if begun && r.hosted(id) {
		r.handedOut[id] = true
	} else {
		delete(r.handedOut, id)
	}
}

// overfull counts a begun job by the route that it really gets, which may be another than
// when it was begun, and reports whether the session has as many as it may have without it.
func (r *run) overfull(id string) bool {
	r.mu.Lock()
	full := !r.handedOut[id] && r.fullAway(id)
	r.mu.Unlock()
	if !full {
		r.inSession(id, true)
	}
	return full
}

// relapse lets a job be handed out anew after a lease ran out: that was not its doing.
func (r *run) relapse(j *jobRun, a *attempt) bool {
	r.mu.Lock()
	j.tries--
	r.mu.Unlock()
	r.note(ledger.Noted(a.job.ID, fmt.Sprintf("attempt %d is given up: its lease ran out without a result; the job is handed out again under another id", a.n)))
	return true
}
