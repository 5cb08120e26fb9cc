package engine

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrate/internal/dispatch"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/secret"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// bare is a run with a clock, and nothing else but what it said of limits.
func bare(adapters ...runtime.Adapter) *run {
	return &run{
		eng: &Engine{Now: time.Now, Adapters: adapters}, led: &ledger.Run{},
		paused: map[string]time.Time{}, starts: map[string]time.Time{}, profiles: map[string]runtime.Profile{},
	}
}

// sharing is a runtime whose processes may or may not share state files.
type sharing struct {
	runtime.Adapter
	name   string
	shared bool
}

func (s sharing) Name() string { return s.name }
func (s sharing) Shared() bool { return s.shared }

// Eight programs of one runtime that are ready to start in the same instant are
// started one after another; those of a runtime that shares nothing are not.
func TestStartsOfARuntimeThatSharesFilesAreSpaced(t *testing.T) {
	for name, want := range map[string]time.Duration{"agent": 250 * time.Millisecond, "program": 0, "stranger": 0} {
		synctest.Test(t, func(t *testing.T) {
			r := bare(sharing{name: "agent", shared: true}, sharing{name: "program"})
			begin := time.Now()
			var mu sync.Mutex
			var all sync.WaitGroup
			starts := map[time.Duration]int{}
			for range 8 {
				all.Go(func() {
					r.awaitStart(t.Context(), &attempt{route: ledger.Route{Runtime: name}})
					mu.Lock()
					defer mu.Unlock()
					starts[time.Since(begin)]++
				})
			}
			all.Wait()
			for i := range 8 {
				if at := time.Duration(i) * want; want > 0 && starts[at] != 1 {
					t.Errorf("%s: %d started after %v: %v", name, starts[at], at, starts)
				}
			}
			if want == 0 && starts[0] != 8 {
				t.Errorf("%s: %v", name, starts)
			}
		})
	}
}

// Whoever waits for a start goes at once when the run ends.
func TestASpacedStartDoesNotOutliveItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := bare(sharing{name: "agent", shared: true})
		r.awaitStart(t.Context(), &attempt{route: ledger.Route{Runtime: "agent"}})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		begin := time.Now()
		r.awaitStart(ctx, &attempt{route: ledger.Route{Runtime: "agent"}})
		if took := time.Since(begin); took != 0 {
			t.Errorf("waited %v", took)
		}
	})
}

// The longer of two pauses holds; only a pause of a runtime that was free is news.
func TestHoldingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := bare()
		minute := time.Now().Add(time.Minute)
		for _, c := range []struct {
			until time.Time
			news  bool
			want  time.Time
		}{
			{minute, true, minute},
			{minute.Add(-time.Second), false, minute},
			{minute.Add(time.Second), false, minute.Add(time.Second)},
			{time.Time{}, true, time.Time{}},
			{minute.Add(time.Hour), false, time.Time{}},
		} {
			if news := r.hold("agent", c.until); news != c.news || !r.paused["agent"].Equal(c.want) {
				t.Errorf("until %v: news %v, held until %v", c.until, news, r.paused["agent"])
			}
		}
		r.hold("other", time.Now().Add(time.Second))
		r.awaitPause(t.Context(), "other") // the arbiter's turn
		if r.hold("other", time.Now().Add(time.Second)); !r.hold("third", minute) {
			t.Error("another runtime is news")
		}
	})
}

// What a decision holds back is for the journal as it is for the run.
func TestWhatADecisionHoldsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(d time.Duration) *time.Time { return utc(time.Now().Add(d)) }
		for name, c := range map[string]struct {
			d    policy.Decision
			want ledger.Next
		}{
			"nothing":               {policy.Decision{Pause: policy.PauseNone, PauseFor: time.Hour}, ledger.Next{}},
			"a time":                {policy.Decision{Pause: policy.PauseUntil, PauseFor: time.Hour}, ledger.Next{Pause: "agent", Until: at(time.Hour)}},
			"the run":               {policy.Decision{Pause: policy.PauseRest}, ledger.Next{Pause: "agent"}},
			"the run, until a time": {policy.Decision{Pause: policy.PauseRest, PauseFor: time.Hour}, ledger.Next{Pause: "agent", Resets: at(time.Hour)}},
		} {
			r, got := bare(), ledger.Next{}
			news := r.holdBack("agent", c.d, &got)
			if news != (c.want.Pause != "") || got.Pause != c.want.Pause || !same(got.Until, c.want.Until) || !same(got.Resets, c.want.Resets) {
				t.Errorf("%s: %+v", name, got)
			}
		}
	})
}

func same(a, b *time.Time) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(*b)
}

// A choice in mid-run leaves out who has no quota, and only in its own copy.
func TestNobodyIsGivenToARuntimeWithoutQuota(t *testing.T) {
	r := bare()
	for _, name := range []string{"empty", "busy", "free"} {
		r.profiles[name] = runtime.Profile{Runtime: name, Kind: runtime.KindCLI, State: runtime.StateAvailable}
	}
	r.profiles["standin"] = runtime.Profile{Runtime: "standin", Kind: runtime.KindStandin, State: runtime.StateAvailable}
	r.paused = map[string]time.Time{"empty": {}, "busy": time.Now().Add(time.Hour), "standin": {}}
	got := r.usable()
	for name, want := range map[string]bool{"empty": false, "busy": true, "free": true, "standin": true} {
		if got[name].Routable() != want || !r.profiles[name].Routable() {
			t.Errorf("%s: %s", name, got[name].State)
		}
	}
}

// A stated time counts from the attempt's end, however late that is taken in, and a
// time of day is one of this machine's clock.
func TestAStatedTimeCountsFromTheEndOfTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := time.Now()
		a := &attempt{}
		a.exit.EndedAt, a.exit.Outcome.RetryAfterMs = ended.UTC(), 60_000
		time.Sleep(20 * time.Second)
		r := bare()
		if got := r.statedWait(runtime.ReasonRateLimit, a); got != 40*time.Second {
			t.Errorf("%v left of a minute", got)
		}
		time.Sleep(time.Hour)
		if got := r.statedWait(runtime.ReasonRateLimit, a); got != 0 {
			t.Errorf("%v left of what is over", got)
		}
		b := &attempt{}
		b.exit.Outcome.Evidence = untrusted.From("try again at " + time.Now().Local().Add(2*time.Hour).Format("3:04 PM"))
		if got := r.statedWait(runtime.ReasonQuota, b).Round(time.Minute); got != 2*time.Hour {
			t.Errorf("%q: %v", b.exit.Outcome.Evidence, got)
		}
	})
}

// A job whose runtime ran into a limit since it was given its slot goes back to the queue
// before anything is recorded of it.
func TestAJobGoesBackWhenItsRuntimeIsHeldBackMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := bare()
		r.paused = map[string]time.Time{"empty": {}, "busy": time.Now().Add(time.Hour), "over": time.Now()}
		for name, want := range map[string]dispatch.Ended{
			"empty": {Again: true, Unmade: true}, "busy": {Again: true, Unmade: true, After: time.Hour}, "over": {}, "free": {},
		} {
			j := &jobRun{planned: &Planned{Job: &spec.Job{ID: "a"}}, route: ledger.Route{Runtime: name}}
			got, held := r.heldSince(j)
			if got != want || held != want.Unmade {
				t.Errorf("%s: %+v, held %v", name, got, held)
			}
			if !held {
				continue
			}
			if a, back := r.begin(t.Context(), j, 1, nil); a != nil || back != want {
				t.Errorf("%s: begun %v, %+v", name, a, back)
			}
		}
	})
}

// meeting is a runtime whose probe ends when all that are expected are probed.
type meeting struct {
	runtime.Adapter
	name  string
	asked func(name string)
}

func (m meeting) Name() string        { return m.name }
func (m meeting) SignInEnv() []string { return nil }
func (m meeting) Probe(context.Context, runtime.Host) runtime.Profile {
	m.asked(m.name)
	return runtime.Profile{Runtime: m.name, Kind: runtime.KindCLI, State: runtime.StateAvailable}
}

// Runtimes are asked again all at once.
func TestRuntimesAreAskedAgainAtOnce(t *testing.T) {
	var there sync.WaitGroup
	there.Add(3)
	ask := func(string) { there.Done(); there.Wait() } // one after the other, nobody would come back
	r := bare(meeting{name: "one", asked: ask}, meeting{name: "two", asked: ask}, meeting{name: "three", asked: ask}, meeting{name: "four", asked: func(string) { t.Error("four was asked") }})
	var err error
	if r.led, err = ledger.Create(t.TempDir(), time.Now()); err != nil {
		t.Fatal(err)
	}
	r.redact, r.plan, r.eng.Host = secret.New(nil), &Plan{}, host{}
	if err := r.led.Append(ledger.RunStarted(ledger.RunInfo{RunID: r.led.ID})); err != nil {
		t.Fatal(err)
	}
	var said []string
	r.led.Follow(func(rec ledger.Record) {
		if rec.Kind == ledger.KindNote {
			said = append(said, rec.Text.Unshown())
		}
	})
	r.profiles["three"] = runtime.Profile{Runtime: "three", State: runtime.StateAvailable}
	r.reprobe(t.Context(), map[string]bool{"one": true, "two": false, "three": false})
	if err := errors.Join(r.broken, r.led.Close()); err != nil {
		t.Fatal(err)
	}
	if len(said) != 2 || !strings.Contains(said[0]+said[1], "one is available") || !strings.Contains(said[0]+said[1], "two is available") {
		t.Errorf("said %q: of those that are not meant, only what is new", said)
	}
}
