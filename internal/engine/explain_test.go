package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// What a job allows passes; what passes for no job, or is withheld for its value,
// does not.
func TestAnAttemptsEnvironment(t *testing.T) {
	teller := teller{job: &spec.Job{EnvAllow: []string{"TEAM_*", "CLAUDECODE"}}, profiles: ledger.Runtimes{
		Environments: map[string]ledger.Environment{"claude": {
			Passed: []string{"HOME", "PATH"}, Withheld: []string{"CLAUDECODE", "GOPROXY", "OTHER_KEY", "TEAM_ONE"},
		}},
	}}
	a := Attempt{Route: ledger.Route{Runtime: "claude"}}
	teller.environment(&a)
	if d := cmp.Diff([]string{"HOME", "PATH", "TEAM_ONE"}, a.EnvPassed); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"CLAUDECODE", "GOPROXY", "OTHER_KEY"}, a.EnvWithheld); d != "" {
		t.Error(d)
	}
}

func TestWhatFollowedAnAttempt(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.Local)
	for want, next := range map[string]*ledger.Next{
		"another attempt follows":                                                                   nil,
		"the same route is tried again":                                                             {},
		"the same route is tried again, not before " + pointInTime(at):                              {NotBefore: &at},
		"the same route is tried again; one gets no starts until " + pointInTime(at):                {Pause: "one", Until: &at},
		"the next declared fallback that qualifies takes over":                                      {Moved: true},
		"the next declared fallback that qualifies takes over; one gets no more starts in this run": {Moved: true, Pause: "one"},
	} {
		if got := decided(next); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A job that never began says what it waits for, and what a person can do when the
// run has ended.
func TestWhyAJobNeverBegan(t *testing.T) {
	for want, change := range map[string]func(*teller){
		"it waits for a slot, for its runtime or for a job that it must not run beside": func(*teller) {},
		"it waits for b (running)": func(t *teller) {
			t.story.DependsOn = []Waited{{"a", ledger.Success}, {"b", ledger.Running}}
		},
		"it is asked when all jobs have settled": func(t *teller) { t.story.Job = ledger.ArbiterJob },
		"dependency: b failed": func(t *teller) {
			t.story.Status, t.story.Reason, t.story.Evidence = ledger.Blocked, runtime.BlockedDependency, "b failed"
		},
		"it waits for b (failed); the run has ended, and `orchestrate resume r` goes on with it": func(t *teller) {
			t.story.DependsOn, t.ended = []Waited{{"b", ledger.Failed}}, true
		},
	} {
		teller := teller{run: &ledger.Run{}, story: Story{RunID: "r", Job: "j", Status: ledger.Queued}}
		change(&teller)
		if got := teller.notStarted(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
