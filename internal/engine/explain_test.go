package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
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
		"another attempt follows":                                                                                     nil,
		"the same route is tried again":                                                                               {},
		"the same route is tried again, not before " + pointInTime(at):                                                {NotBefore: &at},
		"the same route is tried again; one gets no starts until " + pointInTime(at):                                  {Pause: "one", Until: &at},
		"the same route is tried again; one gets no more starts in this run; its quota is back at " + pointInTime(at): {Pause: "one", Resets: &at},
		"the next declared fallback that qualifies takes over":                                                        {Moved: true},
		"the next declared fallback that qualifies takes over; one gets no more starts in this run":                   {Moved: true, Pause: "one"},
	} {
		if got := decided(next); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The end of a job tells of the pause that it caused, and its next step of the time that
// its runtime stated.
func TestTheEndOfAJobTellsOfItsPause(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.Local)
	teller := teller{run: &ledger.Run{}, job: &spec.Job{ID: "j"}, at: map[string]ledger.JobStatus{}, story: Story{RunID: "r", Job: "j"}}
	teller.record(ledger.Record{Kind: ledger.KindIntent, Job: "j", Attempt: 1, Route: &ledger.Route{Runtime: "one"}})
	ended := ledger.Settle(ledger.JobStatus{ID: "j", Runtime: "one", Status: ledger.Failed, Reason: runtime.ReasonRateLimit})
	ended.Next = &ledger.Next{Pause: "one", Until: &at}
	teller.record(ended)
	teller.conclude()
	if got, want := teller.story.Attempts[0].Then, "one gets no starts until "+pointInTime(at); got != want {
		t.Errorf("then %q, want %q", got, want)
	}
	if got := teller.story.NextStep; !strings.Contains(got, "after "+pointInTime(at)) {
		t.Errorf("next %q", got)
	}
}

// A pause is no reason for a job that the spec does not let onto that runtime.
func TestWhichRuntimesAJobMayUse(t *testing.T) {
	for name, c := range map[string]struct {
		job  writtenJob
		want bool
	}{
		"it names it":      {writtenJob{Runtime: "one"}, true},
		"it names another": {writtenJob{Runtime: "two"}, false},
		"policy chooses":   {writtenJob{Runtime: "<any>"}, true},
		"nothing is named": {writtenJob{}, true},
		"a plain program":  {writtenJob{Runtime: "exec", Command: []string{"true"}}, false},
	} {
		teller := teller{job: c.job.job()}
		if got := teller.mayUse("one"); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	teller := teller{job: &spec.Job{Runtime: "two", Fallbacks: []spec.Fallback{{Runtime: "one"}}}}
	if !teller.mayUse("one") {
		t.Error("a fallback is not counted")
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
			t.story.Status, t.story.Reason, t.story.Evidence = ledger.Blocked, runtime.BlockedDependency, untrusted.From("b failed")
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
