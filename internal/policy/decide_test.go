package policy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

var listed = spec.Retry{MaxAttempts: 3, Backoff: 5 * time.Second, On: []string{"rate_limit", "network", "crash"}}

// TestFailureClasses is the contract's table: for every reason what follows when
// it is listed in retry.on, when it is not and work had or had not begun.
func TestFailureClasses(t *testing.T) {
	const none, until, rest = PauseNone, PauseUntil, PauseRest
	for _, row := range []struct {
		reason                runtime.Reason
		listed, fresh, worked string // what follows: retry, fallback or fail
		pause                 Pause
		reprobe               bool
	}{
		{runtime.ReasonRateLimit, "retry", "retry", "fallback", until, false},
		{runtime.ReasonQuota, "fallback", "fallback", "fallback", rest, false},
		{runtime.ReasonNetwork, "retry", "fallback", "fallback", none, false},
		{runtime.ReasonCrash, "retry", "fallback", "fallback", none, false},
		{runtime.ReasonSpawn, "fallback", "fallback", "fail", none, true},
		{runtime.ReasonSessionFailed, "fallback", "fallback", "fallback", none, false},
		{runtime.ReasonStaleResult, "fail", "fail", "fail", none, false},
		{runtime.ReasonAuth, "fallback", "fallback", "fail", none, true},
		{runtime.ReasonUnknownModel, "fallback", "fallback", "fail", none, true},
		{runtime.ReasonUnknownFlag, "fallback", "fallback", "fail", none, true},
		{runtime.ReasonTimeout, "fail", "fail", "fail", none, false},
		{runtime.ReasonFirstOutput, "fail", "fail", "fail", none, false},
		{runtime.ReasonPermission, "fail", "fail", "fail", none, false},
		{runtime.ReasonModelMismatch, "fail", "fail", "fail", none, false},
		{runtime.ReasonNoCompletion, "fail", "fail", "fail", none, false},
		{runtime.ReasonEmptyOutput, "fail", "fail", "fail", none, false},
		{runtime.ReasonMissingOutput, "fail", "fail", "fail", none, false},
		{runtime.ReasonCheckFailed, "fail", "fail", "fail", none, false},
		{runtime.ReasonOwnership, "fail", "fail", "fail", none, false},
		{runtime.ReasonWroteObserving, "fail", "fail", "fail", none, false},
		{runtime.ReasonInjectedSecret, "fail", "fail", "fail", none, false},
		{runtime.ReasonBudget, "fail", "fail", "fail", none, false},
		{runtime.ReasonTurnCap, "fail", "fail", "fail", none, false},
		{runtime.ReasonBadAnswer, "fail", "fail", "fail", none, false},
		{runtime.ReasonNotVerified, "fail", "fail", "fail", none, false},
		{runtime.ReasonTooFew, "fail", "fail", "fail", none, false},
		{runtime.ReasonCancelled, "fail", "fail", "fail", none, false},
		{runtime.ReasonCutOff, "fail", "fail", "fail", none, false},
	} {
		base := Attempt{Retry: spec.Retry{MaxAttempts: 1, Backoff: 5 * time.Second}, Tries: 1, Fallback: true, TreeGone: true}
		for _, c := range []struct {
			when   string
			change func(*Attempt)
			want   string
		}{
			{"listed", func(a *Attempt) { a.Retry = listed }, row.listed},
			{"fresh", func(*Attempt) {}, row.fresh},
			{"worked", func(a *Attempt) { a.WorkBegun = true }, row.worked},
		} {
			a := base
			c.change(&a)
			d := Decide(row.reason, a)
			if got := what(d); got != c.want || d.Pause != row.pause || d.Reprobe != row.reprobe || d.Why == "" {
				t.Errorf("%s, %s: %+v", row.reason, c.when, d)
			}
		}
	}
}

func what(d Decision) string {
	switch {
	case d.Retry && !d.Fallback:
		return "retry"
	case d.Fallback && !d.Retry:
		return "fallback"
	case d.Retry:
		return "both"
	}
	return "fail"
}

func TestDecide(t *testing.T) {
	a := func(change func(*Attempt)) Attempt {
		a := Attempt{Retry: listed, Tries: 1, Fallback: true, TreeGone: true}
		change(&a)
		return a
	}
	for name, c := range map[string]struct {
		reason  runtime.Reason
		attempt Attempt
		want    Decision
	}{
		"a stated time is honoured": {
			runtime.ReasonRateLimit, a(func(a *Attempt) { a.RetryAfter = time.Minute }),
			Decision{Retry: true, After: time.Minute, Pause: PauseUntil, PauseFor: time.Minute},
		},
		"the backoff is the least": {
			runtime.ReasonRateLimit, a(func(a *Attempt) { a.RetryAfter = time.Second }),
			Decision{Retry: true, After: 5 * time.Second, Pause: PauseUntil, PauseFor: 5 * time.Second},
		},
		"retries end, fallback follows": {
			runtime.ReasonCrash, a(func(a *Attempt) { a.Tries = 3 }), Decision{Fallback: true, Pause: PauseNone},
		},
		"the default retry is one": {
			runtime.ReasonRateLimit, a(func(a *Attempt) { a.Tries, a.Retry.On, a.Fallback = 2, nil, false }),
			Decision{Pause: PauseUntil, PauseFor: 5 * time.Second},
		},
		"a quota that says when it is back": {
			runtime.ReasonQuota, a(func(a *Attempt) { a.RetryAfter = time.Hour }),
			Decision{Fallback: true, Pause: PauseRest, PauseFor: time.Hour},
		},
		"a wait longer than the job may take": {
			runtime.ReasonRateLimit, a(func(a *Attempt) { a.Retry.On, a.Timeout, a.RetryAfter = nil, time.Minute, 5*time.Hour }),
			Decision{Fallback: true, OrRetry: true, After: 5 * time.Hour, Pause: PauseUntil, PauseFor: 5 * time.Hour},
		},
		"…which is waited for when that was asked for": {
			runtime.ReasonRateLimit, a(func(a *Attempt) { a.Timeout, a.RetryAfter = time.Minute, 5*time.Hour }),
			Decision{Retry: true, After: 5 * time.Hour, Pause: PauseUntil, PauseFor: 5 * time.Hour},
		},
		"…or when there is nothing else": {
			runtime.ReasonRateLimit, a(func(a *Attempt) {
				a.Retry.On, a.Timeout, a.RetryAfter, a.Fallback = nil, time.Minute, 5*time.Hour, false
			}),
			Decision{Retry: true, After: 5 * time.Hour, Pause: PauseUntil, PauseFor: 5 * time.Hour},
		},
		"no fallback left": {
			runtime.ReasonQuota, a(func(a *Attempt) { a.Fallback = false }), Decision{Pause: PauseRest},
		},
		"a second promotion": {
			runtime.ReasonQuota, a(func(a *Attempt) { a.Promotions = 1 }), Decision{Fallback: true, Pause: PauseRest},
		},
		"never a third": {
			runtime.ReasonQuota, a(func(a *Attempt) { a.Promotions = 2 }), Decision{Pause: PauseRest},
		},
		"probed again once": {
			runtime.ReasonAuth, a(func(a *Attempt) { a.Reprobed, a.Fallback = true, false }), Decision{Pause: PauseNone},
		},
		"nothing beside a living tree": {
			runtime.ReasonCrash, a(func(a *Attempt) { a.TreeGone = false }), Decision{Pause: PauseNone},
		},
	} {
		got := Decide(c.reason, c.attempt)
		if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(Decision{}, "Why")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestWhyNothingMoreIsTried: what was not declared is not said to be used up.
func TestWhyNothingMoreIsTried(t *testing.T) {
	for want, c := range map[string]struct {
		reason  runtime.Reason
		attempt Attempt
	}{
		"not tried again after crash: all 3 attempts are used":              {runtime.ReasonCrash, Attempt{Retry: listed, Tries: 3}},
		"no declared fallback is left after crash: all 3 attempts are used": {runtime.ReasonCrash, Attempt{Retry: listed, Tries: 3, Declared: true}},
		"not tried again after network: network is not in retry.on":         {runtime.ReasonNetwork, Attempt{Retry: spec.Retry{MaxAttempts: 2, On: []string{"crash"}}, Tries: 1}},
		"not tried again after quota":                                       {runtime.ReasonQuota, Attempt{Retry: listed, Tries: 1}},
		"no declared fallback is left after quota":                          {runtime.ReasonQuota, Attempt{Tries: 1, Declared: true}},
	} {
		c.attempt.TreeGone = true
		if got := Decide(c.reason, c.attempt).Why; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
