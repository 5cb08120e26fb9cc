package engine

import (
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

func TestExitStatusIsTheFirstThatApplies(t *testing.T) {
	job := func(s ledger.Status, r runtime.Reason) ledger.JobState { return ledger.JobState{Status: s, Reason: r} }
	ok := job(ledger.Success, "")
	failed := job(ledger.Failed, runtime.ReasonTimeout)
	dependent := job(ledger.Blocked, runtime.BlockedDependency)
	unrouted := job(ledger.Blocked, runtime.BlockedNoRoute)
	queued := job(ledger.Queued, "")
	for _, c := range []struct {
		name    string
		ending  Ending
		verdict string
		jobs    []ledger.JobState
		want    int
	}{
		{"all succeeded and passed", EndedWhole, "pass", []ledger.JobState{ok, ok}, 0},
		{"unreviewed as asked", EndedWhole, "unreviewed", []ledger.JobState{ok}, 0},
		{"a rehearsal", EndedWhole, "rehearsal", []ledger.JobState{ok}, 0},
		{"a job failed", EndedWhole, "fail", []ledger.JobState{ok, failed}, 1},
		{"a failed job blocks its dependents", EndedWhole, "blocked", []ledger.JobState{failed, dependent}, 1},
		{"nothing succeeded, so nothing to judge", EndedWhole, "blocked", []ledger.JobState{failed}, 1},
		{"the verdict failed", EndedWhole, "fail", []ledger.JobState{ok}, 1},
		{"no route", EndedWhole, "fail", []ledger.JobState{ok, unrouted}, 3},
		{"no route beats a failure", EndedWhole, "fail", []ledger.JobState{failed, unrouted}, 3},
		{"the arbiter has no route", EndedWhole, "blocked", []ledger.JobState{ok}, 3},
		{"queued jobs are left", EndedWhole, "blocked", []ledger.JobState{ok, queued}, 1},
		{"wall budget", EndedWall, "blocked", []ledger.JobState{failed, unrouted}, 124},
		{"interrupted", EndedInterrupted, "blocked", []ledger.JobState{failed, unrouted}, 130},
	} {
		if got := exitStatus(c.ending, ledger.State{Jobs: c.jobs}, c.verdict); got != c.want {
			t.Errorf("%s: exit status %d, want %d", c.name, got, c.want)
		}
	}
}
