package engine

import (
	"context"
	"time"

	"orchestrate/internal/dispatch"
	"orchestrate/internal/failpoint"
	"orchestrate/internal/ledger"
	"orchestrate/internal/supervise"
)

// Attempts begin in the order in which the dispatch loop started them. What comes before the
// intent and before the program goes on for several of them at once; only these steps are
// taken one after another. Whoever waits for what others need not wait for lets those pass.

// mostToStart is how long it is waited for a supervisor to say that its program runs before
// that of a program behind it is recorded.
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

// awaitStart returns when the program of an attempt may start: after those before it were
// handed to their supervisors, and not too soon after the last of a runtime that shares
// state files.
func (r *run) awaitStart(ctx context.Context, a *attempt) {
	a.turn.Await(ctx, dispatch.StepHanded)
	if space := r.startIn(a.route.Runtime); space > 0 {
		a.turn.Leave() // others need not wait for that, and those of its own runtime are spaced too
		sleep(ctx, space)
	}
	a.turn.Took(dispatch.StepHanded)
}

// begins records that the program of an attempt runs.
func (r *run) begins(ctx context.Context, a *attempt, p supervise.Process) {
	a.awaitBegun(ctx)
	r.note(ledger.Started(a.job.ID, a.n, p.PID, p.StartTime))
	a.turn.Leave()
}

// awaitBegun returns when all before an attempt have begun: of those whose supervisors were
// told earlier one may still be at it.
func (a *attempt) awaitBegun(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, mostToStart)
	defer cancel()
	a.turn.Await(ctx, dispatch.StepBegun)
}

// letPass lets those behind an attempt begin before it while its tree is made, unless they
// get a tree too.
func (r *run) letPass(a *attempt) {
	if _, own := r.baseOf(a.job, a.route); own && a.resumes == nil {
		a.turn.StepAside()
	}
}
