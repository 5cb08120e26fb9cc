package engine

import (
	"context"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// Whatever let it through before, a judge is not dispatched into a session.
func TestAJudgeNeverGoesOnWithASession(t *testing.T) {
	for name, job := range map[string]spec.Job{
		"a reviewer": {ID: "j", Task: "review", Continue: "a"},
		"a vote":     {ID: "j", Task: "scout", Continue: "a", Verdict: &spec.Verdict{Field: "verdict", Accept: "pass"}},
		"of a call":  {ID: "j", Task: "audit", Worker: &spec.Worker{Resumes: &spec.Resumed{Session: "s", Runtime: "claude"}}},
	} {
		block := (&run{}).reseat(context.Background(), &jobRun{planned: &Planned{Job: &job}}, nil)
		if block == nil || block.Reason != runtime.BlockedSession || !strings.Contains(block.Detail, "a judge begins a session of its own") {
			t.Errorf("%s: %+v", name, block)
		}
	}
}

func TestWhatFollowsAnAttemptInASession(t *testing.T) {
	for name, c := range map[string]struct {
		decided policy.Decision
		begun   bool
		retry   bool
		why     string
	}{
		"a limit before it saw anything":   {policy.Decision{Retry: true, Why: "retried: rate_limit"}, false, true, "retried: rate_limit"},
		"a retry of what had begun":        {policy.Decision{Retry: true}, true, false, "cannot be set back"},
		"a fallback":                       {policy.Decision{Fallback: true}, false, false, "no other runtime has its session"},
		"a fallback, or else one more try": {policy.Decision{Fallback: true, OrRetry: true}, false, true, "no other runtime has its session"},
		"nothing":                          {policy.Decision{Why: "crash is not tried again"}, true, false, "crash is not tried again"},
	} {
		d := onceInSession(c.decided, c.begun)
		if d.Retry != c.retry || d.Fallback || d.OrRetry || !strings.Contains(d.Why, c.why) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// The tokens of a session are those of all its turns; what is not told is not made up.
func TestASessionCountsAllItsTurns(t *testing.T) {
	a := &attempt{job: &spec.Job{ID: "b"}, n: 1, route: ledger.Route{Access: "read"}, resumes: &ledger.Lineage{Of: "a", InputTokens: 100, OutputTokens: 7}}
	s := sessionOf(a, ledger.JobStatus{Usage: &runtime.Usage{InputTokens: new(int64(50))}}, nil)
	if s.InputTokens == nil || *s.InputTokens != 150 || s.OutputTokens != nil || s.ResumeOf != "a" || s.Access != "read" {
		t.Errorf("%+v", s)
	}
}
