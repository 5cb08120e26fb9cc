package engine

import (
	"context"
	"slices"
	"time"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/check"
	"orchestrate/internal/dispatch"
	"orchestrate/internal/failpoint"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/supervise"
	"orchestrate/internal/untrusted"
)

// spacing is the least time between two starts of a runtime that shares state
// files between its processes.
const spacing = 250 * time.Millisecond

// backend is the run as the dispatch loop sees what carries out attempts.
type backend run

// Runtime implements dispatch.Backend.
func (b *backend) Runtime(job string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.jobs[job].route.Runtime
}

// Spacing implements dispatch.Backend.
func (b *backend) Spacing(name string) time.Duration {
	if a, ok := b.eng.adapter(name); ok && a.Shared() {
		return spacing
	}
	return 0
}

// Held implements dispatch.Backend.
func (b *backend) Held(name string) (time.Time, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	until, held := b.paused[name]
	return until, held
}

// Attempt implements dispatch.Backend.
func (b *backend) Attempt(ctx context.Context, start dispatch.Start) dispatch.Ended {
	r := (*run)(b)
	j := r.jobs[start.Job]
	a := r.underWayAt(start.Job, start.N)
	if a == nil {
		var instead dispatch.Ended
		if a, instead = r.begin(ctx, j, start.N, start.Turn); a == nil {
			r.free(start.Job)
			return instead
		}
	}
	defer a.release()
	s, how, away := r.turn(ctx, start.Slot, a)
	start.Turn.Leave() // in case it came to no program
	if away {
		return dispatch.Ended{Away: true}
	}
	status := r.statusOf(a)
	s.describe(&status, how)
	status = cleaned(r, status)
	r.remember(j, a, &s, status)
	work := r.workOf(a, &s)
	j.work = work
	work.Findings = arbiter.Layer1([]arbiter.JobFacts{*j.facts})
	return r.conclude(ctx, j, a, status, work)
}

// turn is what an attempt does in its slot; away = it has not ended, and needs none for now.
func (r *run) turn(ctx context.Context, slot int, a *attempt) (s settlement, how policy.Settlement, away bool) {
	if a.internal() && (a.request != nil || !a.taken) {
		return r.sendOut(ctx, slot, a)
	}
	s, how = r.carry(ctx, slot, a) // of the session only one whose set-up an engine before had begun
	if a.internal() {
		r.forget(a)
	}
	return s, how, false
}

// begin chooses what attempt n will be and makes its intent durable. The attempt is nil
// when the job was blocked, stays in the queue because the run ends, or goes back to it
// because its runtime is held back since the dispatch loop looked.
func (r *run) begin(ctx context.Context, j *jobRun, n int, turn *dispatch.Turn) (*attempt, dispatch.Ended) {
	job := j.planned.Job
	if back, held := r.heldSince(j); held {
		return nil, back
	}
	if block := r.reroute(ctx, j, turn); block != nil {
		r.block(job.ID, *block)
		return nil, dispatch.Ended{}
	}
	if back, held := r.heldSince(j); held { // another runtime than the loop asked about
		return nil, back
	}
	if back, over := r.reserveAgain(j); over {
		return nil, back
	}
	if r.overfull(job.ID) {
		return nil, dispatch.Ended{Again: true, Unmade: true}
	}
	r.mu.Lock()
	j.route = r.freshTree(j)
	a := &attempt{job: job, n: n, route: j.route, turn: turn, begun: r.eng.Now()}
	r.mu.Unlock()
	if block := unparted(job, a.route); block != nil {
		r.block(job.ID, *block)
		return nil, dispatch.Ended{}
	}
	if err := r.holdCheckout(ctx, a); err != nil {
		if ctx.Err() == nil {
			r.block(job.ID, route.Block{Reason: runtime.BlockedNoRoute, Detail: err.Error()})
		}
		return nil, dispatch.Ended{}
	}
	if block := r.takeSession(ctx, a); block != nil {
		a.release()
		r.block(job.ID, *block)
		return nil, dispatch.Ended{}
	}
	if block := r.mayDispatch(ctx, j, a.route); block != nil {
		r.returnSession(a)
		a.release()
		if ctx.Err() == nil {
			r.block(job.ID, *block)
		}
		return nil, dispatch.Ended{}
	}
	if !r.intend(ctx, a) {
		r.returnSession(a)
		a.release()
		return nil, dispatch.Ended{}
	}
	r.mu.Lock()
	r.attempts[job.ID] = n
	j.tries++
	if !job.Exec() {
		j.ran = append(j.ran, a.route.Family)
	}
	r.mu.Unlock()
	return a, dispatch.Ended{}
}

// heldSince reports whether the runtime of a job's route gets no starts now, and how the
// job goes back to the queue then.
func (r *run) heldSince(j *jobRun) (back dispatch.Ended, held bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	until, held := r.paused[j.route.Runtime]
	now := r.eng.Now()
	if !held || !until.IsZero() && !until.After(now) {
		return dispatch.Ended{}, false
	}
	back = dispatch.Ended{Again: true, Unmade: true}
	if !until.IsZero() {
		back.After = until.Sub(now)
	}
	return back, true
}

// reroute chooses a job's route anew where what the plan chose by does not hold any
// more: who did the work that it judges, or that its runtime can be used at all.
func (r *run) reroute(ctx context.Context, j *jobRun, turn *dispatch.Turn) *route.Block {
	if j.planned.Job.GoesOn() {
		return r.reseat(ctx, j, turn)
	}
	if block := r.rejudge(j); block != nil {
		return block
	}
	if r.profile(j.route.Runtime).Routable() {
		return nil
	}
	next, block := r.successor(j)
	if block == nil {
		r.mu.Lock()
		j.route = next
		r.mu.Unlock()
	}
	return block
}

// remember keeps what later steps ask about a job's newest attempt.
func (r *run) remember(j *jobRun, a *attempt, s *settlement, status ledger.JobStatus) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spent.settle(a.job.ID, sourceThen(status), status.Usage)
	j.ended = append(j.ended, status)
	if n := len(j.ran); n > 0 && !a.job.Exec() {
		j.ran[n-1] = status.Route.Family // by the model that answered
	}
	j.patch, j.dir, j.masked, j.denied = s.patch, a.at.dir, s.displayOnly, a.denied
	if j.base = ""; a.at.isolated && a.at.tree != nil {
		j.base = a.at.tree.Base
	}
	if s.displayOnly {
		j.noteMasked(a.n)
	}
	j.stands(factsOf(a, j.planned.Tiers, status, s))
	if s.patch != nil {
		if !a.at.isolated {
			j.shared = append(append(j.shared, paths(s.patch.Files)...), s.beside...)
		}
		j.judges = check.JudgesChanged(paths(s.patch.Files), a.job.Checks, r.cwdIn(a), r.plan.odd.links)
	}
	j.facts.Probed = r.probedHere(a.route.Runtime)
	r.gated(j.facts)
}

// stands takes in where the job stands, whose status is held once for all who ask.
func (j *jobRun) stands(facts arbiter.JobFacts) { j.facts, j.status = &facts, &facts.Status }

// freshTree is a job's route for its next attempt: what an earlier attempt of a writer
// left in the shared checkout must not be taken for the person's own, so a later
// one works in a tree of its own, where there can be one.
func (r *run) freshTree(j *jobRun) ledger.Route {
	route := j.route
	if j.planned.Job.GoesOn() { // its session is at home in one folder
		return route
	}
	if j.inCheckout() && r.plan.noWorktree(j.planned.Job) == "" && route.Isolation != isolationWorktree {
		route.Isolation = isolationWorktree
		route.IsolationWhy = "an earlier attempt worked in the shared checkout"
		route.Controls = append(slices.Clone(route.Controls), controlWorktree)
	}
	return route
}

// inCheckout reports whether an attempt of a writer had a process in the shared
// checkout.
func (j *jobRun) inCheckout() bool {
	return j.planned.Job.Writes() && slices.ContainsFunc(j.ended, func(s ledger.JobStatus) bool {
		return s.Worktree == nil && (s.Proof == nil || s.Proof.Level != string(supervise.ProofNone))
	})
}

// mayRepeat reports whether another attempt of the job could have a fresh tree.
func (r *run) mayRepeat(j *jobRun) bool {
	job := j.planned.Job
	return !job.Writes() || j.route.Isolation == isolationWorktree ||
		(r.plan.noWorktree(job) == "" && job.Isolation != route.InCheckout)
}

// onceInCheckout is a decision about a job that no tree of its own can be made for.
func onceInCheckout(d policy.Decision) policy.Decision {
	d.Retry, d.Fallback, d.OrRetry = false, false, false
	d.Why = "not tried again: it worked in the shared checkout and may have no worktree (isolation: none)"
	return d
}

// carry takes an attempt from its folder to its settlement. What goes wrong on
// the engine's own side before the program runs is a failure to spawn.
func (r *run) carry(ctx context.Context, slot int, a *attempt) (settlement, policy.Settlement) {
	defer r.dropPrivate(a)
	if !a.taken {
		if err := r.prepare(ctx, a); err != nil {
			return settlement{}, notBegun(ctx, err)
		}
	}
	mine := r.enter(ctx, a)
	defer r.leave()
	r.join(a)
	var left settlement
	defer func() { r.depart(ctx, a, &left) }()
	var err error
	if a.taken {
		err = r.adopt(ctx, a)
	} else {
		if how := r.setUp(ctx, slot, a); how != nil {
			return settlement{}, *how
		}
		err = r.carryOut(ctx, slot, a)
	}
	if err != nil {
		return settlement{}, notBegun(ctx, err)
	}
	if why := r.cutInSetUp(a); why != "" {
		return settlement{}, policy.Settlement{Status: ledger.Interrupted, Reason: runtime.ReasonCutOff, Evidence: untrusted.From(why)}
	}
	s, how := r.settled(ctx, slot, a, r.changedBy(ctx, a, mine))
	left = s
	return s, how
}

// settled is settle, with what goes wrong meanwhile as an end of the attempt.
func (r *run) settled(ctx context.Context, slot int, a *attempt, changed []string) (settlement, policy.Settlement) {
	s, how, err := r.settle(ctx, slot, a, changed)
	switch {
	case err != nil && (how.Status == ledger.Success || how.Status == ""): // "": it could not be classed
		how = policy.Settlement{Status: ledger.Failed, Reason: runtime.ReasonCrash, Evidence: untrusted.From(err.Error())}
	case err != nil: // it failed already; what else went wrong does not hide why
		r.tell("job " + a.job.ID + ": " + err.Error())
	}
	return s, how
}

// sequel is what follows from an attempt that ended.
type sequel struct {
	again bool          // another attempt …
	after time.Duration // … not before this long from now …
	moved *ledger.Route // … on this route, nil = on the same
	next  ledger.Next   // the same for the journal, with what is held back
}

// sequelOf decides about an attempt that ended.
func (r *run) sequelOf(ctx context.Context, j *jobRun, a *attempt, status ledger.JobStatus) (s sequel) {
	switch {
	case r.draftsAgain(status):
		s.again = true
	case status.Status == ledger.Failed && !a.hopeless:
		d := policy.Decide(status.Reason, r.attemptFacts(j, a, status.Reason))
		switch {
		case a.job.GoesOn():
			d = onceInSession(d, a.exit.Outcome.WorkBegun)
		case (d.Retry || d.Fallback) && !r.mayRepeat(j):
			d = onceInCheckout(d)
		}
		part := a.route.Runtime == runtimeStandin // what is out is the runtime whose part it plays
		news := !part && r.holdBack(a.route.Runtime, d, &s.next)
		s.again, s.moved = r.follow(ctx, j, a, d, status)
		if part && s.moved == nil {
			news = r.holdBack(a.route.Runtime, d, &s.next)
		}
		if news {
			r.sayHeld(a.job.ID, s.next, status.ReasonEvidence)
		}
		s.next.Moved = s.moved != nil
		if s.again && s.moved == nil && d.After > 0 {
			s.after, s.next.NotBefore = d.After, utc(r.eng.Now().Add(d.After))
		}
	case status.Reason == runtime.ReasonLeaseLapsed && ctx.Err() == nil:
		s.again = r.relapse(j, a)
	case status.Status == ledger.Interrupted && ctx.Err() == nil && r.mayRepeat(j) && (a.taken || status.Reason == runtime.ReasonCutOff):
		s.again = r.cutOffOnce(j) // an engine before was told to stop it, or its supervisor died
	}
	return s
}

// conclude records the settled attempt and says what follows from it. The journal
// comes first: no file may say more than it proves.
func (r *run) conclude(ctx context.Context, j *jobRun, a *attempt, status ledger.JobStatus, work *ledger.Work) dispatch.Ended {
	s := r.sequelOf(ctx, j, a, status)
	record := ledger.Settle(status)
	if s.again {
		record = ledger.AttemptEnded(status)
	}
	if s.again || s.next.Pause != "" {
		record.Next = &s.next
	}
	record.Work = work
	failpoint.Hit(failpoint.SettleBefore)
	err := r.led.Append(record)
	failpoint.Hit(failpoint.SettleAfter)
	if err == nil && a.dir != "" { // the directory is this attempt's
		err = r.led.WriteJSON(ledger.JobPath(a.job.ID, ledger.StatusFile), status)
	}
	if err == nil && a.decoder() != runtimeExec && a.handed && !a.internal() {
		err = r.led.WriteJSON(ledger.JobPath(a.job.ID, ledger.SessionFile), sessionOf(a, status, work))
	}
	r.fail(err)
	failpoint.Hit(failpoint.StatusThere)
	r.mu.Lock()
	defer r.mu.Unlock()
	j.ended[len(j.ended)-1] = status
	if s.again {
		status.Status = ledger.Queued // until the next attempt
	}
	facts := *j.facts // somebody may be reading the status that there was
	facts.Status = status
	j.stands(facts)
	if s.moved != nil {
		j.route, j.tries = *s.moved, 0
		j.moves++
	}
	return dispatch.Ended{OK: status.Status == ledger.Success, Again: s.again, After: s.after}
}

// cutOffOnce allows one more attempt to a job whose supervisor died: that was not
// its doing. A second such death is for a person to look at.
func (r *run) cutOffOnce(j *jobRun) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	j.cutOff++
	j.tries-- // it does not count as one of its own
	return j.cutOff == 1
}

func (r *run) attemptFacts(j *jobRun, a *attempt, why runtime.Reason) policy.Attempt {
	wait := r.statedWait(why, a)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures[a.route.Runtime]++
	return policy.Attempt{
		Retry: a.job.Retry, Tries: j.tries, Promotions: j.moves, Fallback: len(a.job.Fallbacks) > j.moves,
		Declared: len(a.job.Fallbacks) > 0, Timeout: a.job.Timeout,
		WorkBegun: a.exit.Outcome.WorkBegun, RetryAfter: wait,
		Reprobed: j.reprobed[a.route.Runtime], TreeGone: a.exit.Proof.Gone || a.neverRan(),
	}
}
