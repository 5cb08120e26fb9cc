package dispatch

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Loop runs the jobs of a graph on a number of slots. Its state belongs to the
// goroutine that calls Run.
type Loop struct {
	Graph   Graph
	Backend Backend
	Slots   int

	// Attempts is how many attempts an earlier process made, per job; the next
	// of a job has the number after that.
	Attempts map[string]int
	// Carry lists jobs whose last attempt of those is under way already. Before
	// anything starts, the backend is called for that attempt, even when ctx has
	// ended: somebody must see it through. Each takes a slot.
	Carry []string
	// Due says before when the next attempt of a job must not start, as an earlier
	// process decided.
	Due map[string]time.Time

	carry   []string // under way without a slot: those of Carry, and what has come back
	away    []string // begun jobs that somebody else has
	line    Line
	free    []int
	running int
	ended   chan result
	tries   map[string]int
	due     map[string]time.Time // jobs that must not start before
	last    map[string]time.Time
}

type result struct {
	slot int
	job  string
	Ended
}

// lookAfter is how long the loop waits before it asks again whether what is away has come
// back.
const lookAfter = 200 * time.Millisecond

// Run starts everything that can be started and returns when nothing runs and
// nothing more can start, or when ctx has ended and the running attempts have
// settled. Jobs that could not start stay unstarted in the graph; those that are away
// then stay begun, unless ctx has ended.
func (l *Loop) Run(ctx context.Context) {
	l.init()
	for {
		l.fetch(ctx)
		l.carryOn(ctx)
		next, any := l.startAll(ctx)
		switch over := ctx.Err() != nil; {
		case l.running > 0 || any && !over:
		case over && len(l.away) > 0: // it ended just now
			continue
		default:
			return
		}
		l.wait(ctx, next, any)
	}
}

func (l *Loop) init() {
	l.ended = make(chan result, l.Slots)
	l.tries = map[string]int{}
	maps.Copy(l.tries, l.Attempts)
	l.last = map[string]time.Time{}
	l.due = map[string]time.Time{}
	maps.Copy(l.due, l.Due)
	for i := l.Slots - 1; i >= 0; i-- {
		l.free = append(l.free, i)
	}
	l.carry = l.Carry
	for _, job := range l.carry {
		l.Graph.Start(job) // it holds its key from now on, with or without a slot
	}
}

// fetch gives what is away its turn once it is back: before all that only wants to begin.
// When ctx has ended everything has.
func (l *Loop) fetch(ctx context.Context) {
	l.away = slices.DeleteFunc(l.away, func(job string) bool {
		back := ctx.Err() != nil || l.Backend.Back(job)
		if back {
			l.carry = append(l.carry, job)
		}
		return back
	})
}

// carryOn hands the attempts that are under way to the backend. More than there
// are slots wait for one, before all that only wants to begin.
func (l *Loop) carryOn(ctx context.Context) {
	for len(l.carry) > 0 && len(l.free) > 0 {
		job := l.carry[0]
		l.carry = l.carry[1:]
		l.launch(ctx, job, nil)
	}
}

// wait blocks until an attempt ends, the next job is due, it is time to look after what is
// away, or ctx ends.
func (l *Loop) wait(ctx context.Context, next time.Time, any bool) {
	if look := time.Now().Add(lookAfter); len(l.away) > 0 && (!any || look.Before(next)) {
		next, any = look, true
	}
	var timer <-chan time.Time
	if any {
		timer = time.After(time.Until(next))
	}
	done := ctx.Done()
	if ctx.Err() != nil {
		done = nil // already seen; now only the running attempts matter
	}
	select {
	case r := <-l.ended:
		l.settle(r)
		l.drain()
	case <-timer:
	case <-done:
	}
}

// drain takes what else has ended, so that one pass over the graph serves all.
func (l *Loop) drain() {
	for {
		select {
		case r := <-l.ended:
			l.settle(r)
		default:
			return
		}
	}
}

// startAll starts what it can. If something is held back by time only, any is
// true and next says when to look again.
func (l *Loop) startAll(ctx context.Context) (next time.Time, any bool) {
	if ctx.Err() != nil {
		return time.Time{}, false
	}
	hold := func(at time.Time) {
		if !any || at.Before(next) {
			next, any = at, true
		}
	}
	for len(l.free) > 0 {
		ready := l.Graph.ReadyIf(1, l.can(hold))
		if len(ready) == 0 {
			break
		}
		l.Graph.Start(ready[0])
		l.start(ctx, ready[0])
	}
	return next, any
}

// can says which jobs may start now: none whose runtime is held back.
func (l *Loop) can(hold func(time.Time)) func(job string) bool {
	return func(job string) bool {
		if !l.Backend.MayStart(job) {
			return false
		}
		at, forever := l.heldUntil(job)
		if forever {
			return false
		}
		if at.After(time.Now()) {
			hold(at)
			return false
		}
		return true
	}
}

// heldUntil says from when on the job's runtime may start another process.
func (l *Loop) heldUntil(job string) (at time.Time, forever bool) {
	rt := l.Backend.Runtime(job)
	if until, held := l.Backend.Held(rt); held {
		if until.IsZero() {
			return at, true
		}
		at = until
	}
	if due := l.due[job]; due.After(at) {
		at = due
	}
	if space := l.Backend.Spacing(rt); space > 0 {
		if last, ok := l.last[rt]; ok && last.Add(space).After(at) {
			at = last.Add(space)
		}
	}
	return at, false
}

// start begins the job's next attempt.
func (l *Loop) start(ctx context.Context, job string) {
	l.tries[job]++
	delete(l.due, job)
	l.launch(ctx, job, l.line.Join())
}

// launch gives the job's present attempt a slot. Of one that begins turn is its place.
func (l *Loop) launch(ctx context.Context, job string, turn *Turn) {
	slot := l.free[len(l.free)-1]
	l.free = l.free[:len(l.free)-1]
	l.running++
	s := Start{Job: job, N: l.tries[job], Slot: slot, Turn: turn}
	if rt := l.Backend.Runtime(job); l.Backend.Spacing(rt) > 0 {
		l.last[rt] = time.Now()
	}
	go func() {
		ended := l.Backend.Attempt(ctx, s)
		turn.Leave()
		l.ended <- result{slot, job, ended}
	}()
}

func (l *Loop) settle(r result) {
	l.running--
	l.free = append(l.free, r.slot)
	if r.Away {
		l.away = append(l.away, r.job)
		return
	}
	if r.Unmade {
		l.tries[r.job]--
	}
	if r.Again { // it holds no key while nothing of it runs
		l.due[r.job] = time.Now().Add(r.After)
		l.Graph.Return(r.job)
		return
	}
	l.Graph.Settle(r.job, r.OK)
}
