package engine

import (
	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// The exit statuses of a run, as the contract numbers them.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitBlocked     = 3
	ExitAwaiting    = 4 // internal jobs await the session
	ExitRunning     = 5 // another engine carries the run on
	ExitWall        = 124
	ExitInterrupted = 130
)

// exitStatus is the first that applies: interrupted, wall budget, blocked by
// approval, route or arbiter, a job or the verdict failed, all well. A job that
// only its dependency blocks counts as what its root cause is.
func exitStatus(ending Ending, st ledger.State, verdict string) int {
	switch ending {
	case EndedInterrupted:
		return ExitInterrupted
	case EndedWall:
		return ExitWall
	}
	failed, blocked, succeeded := false, false, 0
	for _, j := range st.Jobs {
		switch {
		case j.Status == ledger.Success:
			succeeded++
		case j.Status == ledger.Skipped: // it counts for nothing
		case j.Status == ledger.Blocked && j.Reason != runtime.BlockedDependency:
			blocked = true
		case j.Status != ledger.Blocked:
			failed = true // or still queued
		}
	}
	switch {
	case blocked, verdict == arbiter.Blocked && !failed && succeeded > 0:
		return ExitBlocked
	case failed, verdict == arbiter.Fail, verdict == arbiter.Blocked:
		return ExitFailed
	}
	return ExitOK
}
