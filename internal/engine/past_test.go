package engine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

var clock = time.Date(2026, 7, 30, 12, 0, 0, 0, time.UTC)

// journal is what a run's records are, a second apart.
func journal(recs ...ledger.Record) *past {
	p := newPast()
	for i, r := range recs {
		r.At = clock.Add(time.Duration(i) * time.Second)
		if err := p.record(r); err != nil {
			panic(err)
		}
	}
	return p
}

func intent(job string, n int, runtime string) ledger.Record {
	return ledger.Intent(job, n, ledger.Route{Runtime: runtime, Family: "f-" + runtime})
}

func failedThere(job string, n int, on string, next *ledger.Next) ledger.Record {
	r := ledger.AttemptEnded(ledger.JobStatus{
		ID: job, Attempts: n, Status: ledger.Failed, Reason: runtime.ReasonNetwork, Runtime: on, Route: &ledger.Route{Runtime: on},
	})
	r.Next = next
	return r
}

func cutOffThere(job string, n int) ledger.Record {
	return ledger.AttemptEnded(ledger.JobStatus{ID: job, Attempts: n, Status: ledger.Interrupted, Reason: runtime.ReasonCutOff, Route: &ledger.Route{Runtime: "one"}})
}

// resumedWith is a run of two jobs that recalls what was decided about them.
func resumedWith(t *testing.T, p *past) *run {
	t.Helper()
	root := t.TempDir()
	const text = "version: 1\njobs:\n  - {id: a, runtime: one, task: scout, prompt: look, expected_output: x, timeout: 1m}\n" +
		"  - {id: b, runtime: one, task: scout, prompt: look, expected_output: x, timeout: 1m}\n"
	if err := os.WriteFile(filepath.Join(root, "jobs.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	plan, diags, err := (&Engine{Now: time.Now}).Read(t.Context(), Request{Spec: "jobs.yaml", Cwd: root})
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	r := &run{plan: plan, jobs: map[string]*jobRun{}, carried: map[string]*attempt{}, due: map[string]time.Time{}, paused: map[string]time.Time{}, failures: map[string]int{}}
	for i := range plan.Jobs {
		r.jobs[plan.Jobs[i].Job.ID] = &jobRun{planned: &plan.Jobs[i]}
	}
	r.restoreTries(p)
	return r
}

// A crash grants no retry, no promotion and no wait more or less than the spec.
func TestDecisionsOutliveTheirEngine(t *testing.T) {
	later := clock.Add(time.Hour)
	r := resumedWith(t, journal(
		ledger.RunStarted(ledger.RunInfo{Jobs: []string{"a", "b"}}),
		intent("a", 1, "one"), failedThere("a", 1, "one", &ledger.Next{}),
		intent("a", 2, "one"), cutOffThere("a", 2),
		intent("a", 3, "one"), failedThere("a", 3, "one", &ledger.Next{Moved: true}),
		intent("a", 4, "two"), failedThere("a", 4, "two", &ledger.Next{NotBefore: &later, Pause: "two", Until: &later}),
		intent("b", 1, "one"), failedThere("b", 1, "one", &ledger.Next{Moved: true, Pause: "one"}),
	))
	if a := r.jobs["a"]; a.tries != 1 || a.moves != 1 || len(a.tried) != 1 || a.tried[0].Runtime != "one" {
		t.Errorf("a: %d tries on its route, %d moves, tried %v", a.tries, a.moves, a.tried)
	}
	if !r.due["a"].Equal(later) || !r.paused["two"].Equal(later) {
		t.Errorf("due %v, paused %v", r.due, r.paused)
	}
	if r.failures["one"] != 3 || r.failures["two"] != 1 {
		t.Errorf("failures %v", r.failures)
	}
	if b := r.jobs["b"]; b.tries != 0 || b.moves != 1 {
		t.Errorf("b: %d tries on its new route, %d moves", b.tries, b.moves)
	}
	if _, held := r.paused["one"]; held {
		t.Error("whether a quota is back is for the next attempt to find out")
	}
}

// What a person put back begins anew.
func TestAJobThatWasPutBackHasItsTriesAgain(t *testing.T) {
	r := resumedWith(t, journal(
		ledger.RunStarted(ledger.RunInfo{Jobs: []string{"a", "b"}}),
		intent("a", 1, "one"), failedThere("a", 1, "one", &ledger.Next{Moved: true}),
		ledger.Resumed(true), ledger.Requeued("a", "it failed"),
	))
	if a := r.jobs["a"]; a.tries != 0 || a.moves != 0 {
		t.Errorf("%d tries, %d moves", a.tries, a.moves)
	}
}

func TestOnlyAnAttemptThatBeganAloneAndStayedSoWasAlone(t *testing.T) {
	start := ledger.RunStarted(ledger.RunInfo{Jobs: []string{"a", "b"}})
	for name, c := range map[string]struct {
		p    *past
		want bool
	}{
		"nothing beside it":      {journal(start, intent("a", 1, "one")), true},
		"after another":          {journal(start, intent("b", 1, "one"), cutOffThere("b", 1), intent("a", 1, "one")), true},
		"another under way":      {journal(start, intent("b", 1, "one"), intent("a", 1, "one")), false},
		"another began later":    {journal(start, intent("a", 1, "one"), intent("b", 1, "one")), false},
		"another came and ended": {journal(start, intent("a", 1, "one"), intent("b", 1, "one"), cutOffThere("b", 1)), false},
		"another was there":      {journal(start, intent("b", 1, "one"), intent("a", 1, "one"), cutOffThere("b", 1)), false},
	} {
		if got := c.p.alone("a"); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The wall budget counts the time in which an engine worked, since the run last ended.
func TestTimeWithoutAnEngineIsNotWork(t *testing.T) {
	p := newPast()
	for _, r := range []struct {
		rec ledger.Record
		at  int
	}{
		{ledger.RunStarted(ledger.RunInfo{}), 0},
		{intent("a", 1, "one"), 40},
		{ledger.Resumed(false), 1000},
		{ledger.Noted("", "x"), 1002},
	} {
		r.rec.At = clock.Add(time.Duration(r.at) * time.Second)
		if err := p.record(r.rec); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.worked(); got != 42*time.Second {
		t.Errorf("worked %v", got)
	}
	end := ledger.RunEnded("fail", 124)
	end.At = clock.Add(1100 * time.Second)
	if err := p.record(end); err != nil || p.worked() != 0 {
		t.Errorf("%v; a run that had ended begins anew, not with %v", err, p.worked())
	}
}

// A job goes back to no route that it was moved from: where its fallback cannot be used
// any more, it is blocked.
func TestAMovedJobIsBlockedWhenItsFallbackIsGone(t *testing.T) {
	r := resumedWith(t, journal(
		ledger.RunStarted(ledger.RunInfo{Jobs: []string{"a", "b"}}),
		intent("a", 1, "one"), failedThere("a", 1, "one", &ledger.Next{Moved: true}),
	))
	r.eng = &Engine{Now: time.Now}
	for _, j := range r.jobs {
		j.route.Runtime = "one"
		r.routeAgain(j)
	}
	if a := r.jobs["a"]; a.block == nil || a.route.Runtime == "one" {
		t.Errorf("a goes on with %q, block %v", a.route.Runtime, a.block)
	}
	if b := r.jobs["b"]; b.block != nil || b.route.Runtime != "one" {
		t.Errorf("b, which was never moved, goes on with %q, block %v", b.route.Runtime, b.block)
	}
}

// The arbiter's one retry after a busy service is counted since it was last put back, and
// neither a form repair nor a cut uses it up.
func TestTheArbitersRetryIsItsOwn(t *testing.T) {
	ended := func(n int, status ledger.Status, why runtime.Reason) ledger.Record {
		return ledger.AttemptEnded(ledger.JobStatus{ID: ledger.ArbiterJob, Attempts: n, Status: status, Reason: why})
	}
	asked := func(n int) ledger.Record { return intent(ledger.ArbiterJob, n, "one") }
	recs := []ledger.Record{
		ledger.RunStarted(ledger.RunInfo{}),
		asked(1), ended(1, ledger.Failed, runtime.ReasonRateLimit),
		asked(2), ended(2, ledger.Failed, runtime.ReasonRateLimit),
	}
	if got := journal(recs...).job(ledger.ArbiterJob).unanswered(); got != 2 {
		t.Errorf("%d failures before it was put back", got)
	}
	recs = append(recs, ledger.Requeued(ledger.ArbiterJob, "again"),
		asked(3), ended(3, ledger.Failed, runtime.BlockedNoAnswer),
		asked(4), ended(4, ledger.Interrupted, runtime.ReasonCutOff))
	old := journal(recs...).job(ledger.ArbiterJob)
	if got := old.unanswered(); got != 0 {
		t.Errorf("%d failures after it was put back", got)
	}

	r := bare()
	r.plan, r.arbiterFailed = &Plan{Spec: &spec.Spec{}}, old.unanswered()
	busy := &attempt{n: 5}
	for i, again := range []bool{true, false} {
		how := policy.Settlement{Status: ledger.Failed, Reason: runtime.ReasonRateLimit}
		if next := r.next(t.Context(), busy, how, nil, false); (next.after > 0) != again {
			t.Errorf("failure %d: %+v", i+1, next)
		}
	}
}

// Who did a job is remembered by the model that answered.
func TestTheFamilyThatAnsweredOutlivesItsEngine(t *testing.T) {
	end := failedThere("a", 1, "one", &ledger.Next{})
	end.Settled.Route.Family = "other"
	p := journal(intent("a", 1, "one"), end, intent("a", 2, "one"))
	if got := p.job("a").families(false); !slices.Equal(got, []string{"other", "f-one"}) {
		t.Errorf("%v", got)
	}
}
