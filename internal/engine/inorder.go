package engine

import (
	"context"
	"time"

	"orchestrate/internal/dispatch"
	"orchestrate/internal/failpoint"
	"orchestrate/internal/ledger"
)

// Attempts begin in the order in which the dispatch loop started them. What comes before the
// intent and before the program goes on for several of them at once; only these two steps
// are taken one after another. Whoever waits for what others need not wait for lets those
// pass.

// mostToStart is how long those behind wait for a supervisor to say that its program runs.
const mostToStart = 10 * time.Second

// intend makes an attempt's intent durable, after those of all before it. Not ok = the run
// ends or its ledger failed, and the attempt has not begun.
func (r *run) intend(ctx context.Context, a *attempt) (ok bool) {
	a.turn.Await(ctx, dispatch.StepIntended)
	if ctx.Err() != nil {
		return false
	}
	failpoint.Hit(failpoint.IntentBefore)
	err := r.led.Note(ledger.Intent(a.job.ID, a.n, a.route))
	a.turn.Took(dispatch.StepIntended)
	if err == nil {
		err = r.led.Append() // nothing more: those behind it share the wait for the disk
	}
	if err != nil {
		r.fail(err)
		return false
	}
	failpoint.Hit(failpoint.IntentAfter)
	return true
}

// awaitStart returns when the program of an attempt may start: after those of all before it,
// and not too soon after the last of a runtime that shares state files. over = it runs, or
// never will.
func (r *run) awaitStart(ctx context.Context, a *attempt) (over func()) {
	a.turn.Await(ctx, dispatch.StepBegun)
	if space := r.startIn(a.route.Runtime); space > 0 {
		a.turn.Leave() // those of other runtimes need not wait, and its own are behind it by their spacing
		sleep(ctx, space)
	}
	limit := time.AfterFunc(mostToStart, a.turn.Leave)
	return func() {
		limit.Stop()
		a.turn.Leave()
	}
}

// letPass lets those behind an attempt begin before it while its tree is made, unless they
// get a tree too.
func (r *run) letPass(a *attempt) {
	if _, own := r.baseOf(a.job, a.route); own && a.resumes == nil {
		a.turn.StepAside()
	}
}
