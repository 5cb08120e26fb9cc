package engine

import (
	"context"
	"fmt"
	"maps"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// What a runtime said about its limits, and what follows for everybody who would use
// it: jobs, their fallbacks, the arbiter.

// statedWait is how long from now an attempt's runtime wants to be left alone; 0 = it
// did not say, or that time is over.
func (r *run) statedWait(why runtime.Reason, a *attempt) time.Duration {
	now := r.eng.Now()
	ended := a.exit.EndedAt
	if ended.IsZero() {
		ended = now
	}
	ended = ended.In(now.Location())
	wait := policy.StatedWait(why, a.exit.Outcome, ended, time.LoadLocation)
	if wait == 0 {
		return 0
	}
	return max(0, ended.Add(wait).Sub(now))
}

// holdBack takes in what was decided about an attempt's runtime. It reports whether
// that is news: other attempts that are under way run into the same.
func (r *run) holdBack(name string, d policy.Decision, next *ledger.Next) (news bool) {
	if d.Pause == policy.PauseNone {
		return false
	}
	next.Pause = name
	until := r.eng.Now().Add(max(d.PauseFor, time.Millisecond))
	if d.Pause == policy.PauseUntil {
		next.Until = utc(until)
		return r.hold(name, until)
	}
	if d.PauseFor > 0 {
		next.Resets = utc(until)
	}
	return r.hold(name, time.Time{})
}

// sayHeld tells who follows the run, the report and the arbiter that a runtime is
// held back since an attempt of a job.
func (r *run) sayHeld(job string, next ledger.Next, evidence untrusted.Text) {
	if next.Until != nil {
		r.tell(fmt.Sprintf("%s gets no new jobs until %s: job %s ran into its limit (%s)", next.Pause, pointInTime(*next.Until), job, evidence))
		return
	}
	back, then := "", "when the quota is back"
	if next.Resets != nil {
		back, then = " until "+pointInTime(*next.Resets), "then"
	}
	r.tell(fmt.Sprintf("%s is out of quota%s (%s): its other jobs stay queued; `orchestrate resume %s` starts them %s",
		next.Pause, back, evidence, r.led.ID, then))
}

func utc(t time.Time) *time.Time {
	t = t.UTC().Round(0)
	return &t
}

// pointInTime is one as a person reads it on their own clock.
func pointInTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 MST") }

// hold notes that a runtime gets no starts until a time, zero = for the rest of the
// run; the longer of two holds. It reports whether it got any until now.
func (r *run) hold(name string, until time.Time) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	have, held := r.paused[name]
	if held && (have.IsZero() || !until.IsZero() && until.Before(have)) {
		return false
	}
	r.paused[name] = until
	return !held || until.IsZero() || !have.After(r.eng.Now())
}

// awaitPause returns when a runtime may be started again after a limit.
func (r *run) awaitPause(ctx context.Context, name string) {
	r.mu.Lock()
	until := r.paused[name]
	r.mu.Unlock()
	if !until.IsZero() {
		sleep(ctx, until.Sub(r.eng.Now()))
	}
}

// usable are the profiles that a choice in mid-run is made from: whoever is out of
// quota for the rest of the run is not available. r.mu is held.
func (r *run) usable() map[string]runtime.Profile {
	all := maps.Clone(r.profiles)
	for name, until := range r.paused {
		if p, ok := all[name]; ok && until.IsZero() && p.Kind != runtime.KindStandin { // which plays many parts
			p.State, p.Reason = runtime.StateUnavailable, "out of quota for the rest of this run"
			p.NextStep = "`orchestrate resume " + r.led.ID + "` when the quota of " + name + " is back, or name another runtime"
			all[name] = p
		}
	}
	return all
}

// startIn says in how long a runtime that shares state files between its processes may start
// another one, and books that start. The dispatch loop spaces its jobs already; but what an
// attempt needs before its program starts takes one longer than the other, and the arbiter
// is no job.
func (r *run) startIn(name string) time.Duration {
	space := (*backend)(r).Spacing(name)
	if space == 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.eng.Now()
	at := r.starts[name]
	if at.Before(now) {
		at = now
	}
	r.starts[name] = at.Add(space)
	return at.Sub(now)
}

// sleep waits, at most until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
