// Package dispatch decides when an attempt starts: it keeps the slots, leaves
// runtimes that are held back alone, spaces the starts of runtimes that share state files,
// keeps starts in the order in which it made them, and carries out retries and promotions. What an attempt is, and where it runs,
// is the Backend's business.
package dispatch

import (
	"context"
	"time"
)

// Graph is what the loop needs to know about the order of jobs.
type Graph interface {
	// ReadyIf lists the first most jobs, in the spec's order, that may start now
	// and that can is true for.
	ReadyIf(most int, can func(id string) bool) []string
	// Start marks a job as begun; it is not ready any more. The loop asks about the
	// next one only after that, so what a start takes from the others counts at once.
	Start(id string)
	// Return puts a begun job back: it is ready again and holds nothing meanwhile.
	Return(id string)
	// Settle marks a begun job as ended.
	Settle(id string, ok bool)
}

// Backend carries out attempts.
type Backend interface {
	// Runtime names the runtime that the job's next attempt will use.
	Runtime(job string) string
	// Spacing is the least time between two starts of that runtime.
	Spacing(runtime string) time.Duration
	// Held says until when a runtime gets no starts because it ran into a limit; zero
	// = for the rest of the run.
	Held(runtime string) (until time.Time, held bool)
	// MayStart is asked before every start. A job that may not start stays in the queue
	// and is asked about again when another attempt has ended; once nothing runs any
	// more and nothing may start, the loop ends.
	MayStart(job string) bool
	// Attempt carries out an attempt and returns when it is settled in the ledger and its
	// tree is gone. One that an earlier process began is carried on (Loop.Carry).
	Attempt(ctx context.Context, s Start) Ended
	// Back reports whether an attempt that is away has come back, so that Attempt is to be
	// called for it once more. It is asked often, and only about those.
	Back(job string) bool
}

// Start says which attempt is to be carried out, and where.
type Start struct {
	Job  string
	N    int // of the job, from 1
	Slot int
	// Turn is its place among the starts that the loop makes; nil = it is under way already.
	// When Attempt returns it has been left.
	Turn *Turn
}

// Ended is what the loop needs to know of a settled attempt.
type Ended struct {
	OK     bool          // the job succeeded
	Again  bool          // start another attempt: a retry, or a promoted successor
	After  time.Duration // …not before this long from now
	Unmade bool          // it was put back before it was begun: the next has the same number
	// Away says that it has not ended: somebody else has it, and it takes no slot. Attempt is
	// called for it again, with the same number, when it is back or the context has ended.
	Away bool
}
