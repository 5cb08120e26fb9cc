package dispatch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrate/internal/graph"
	"orchestrate/internal/spec"
)

// line is a graph in which every job waits for those named after it.
type line struct {
	order   []string
	deps    map[string][]string
	begun   map[string]bool
	settled map[string]bool // value: ok
}

func newLine(deps map[string][]string, order ...string) *line {
	return &line{order: order, deps: deps, begun: map[string]bool{}, settled: map[string]bool{}}
}

func (g *line) ReadyIf(most int, can func(string) bool) []string {
	var out []string
	for _, j := range g.order {
		if len(out) < most && !g.begun[j] && !slices.ContainsFunc(g.deps[j], func(d string) bool { return !g.settled[d] }) && can(j) {
			out = append(out, j)
		}
	}
	return out
}
func (g *line) Start(id string)           { g.begun[id] = true }
func (g *line) Return(id string)          { delete(g.begun, id) }
func (g *line) Settle(id string, ok bool) { g.settled[id] = ok }

// end is how an attempt of the script ends, and what it holds back from then on.
type end struct {
	Ended
	Pause string
	For   time.Duration // 0 = for the rest of the run
}

func (s *script) Held(rt string) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, held := s.held[rt]
	return until, held
}

// script is a backend in which every attempt takes a second and ends as told.
type script struct {
	mu      sync.Mutex
	ends    map[string][]end // by job, one per attempt; the last repeats
	held    map[string]time.Time
	space   time.Duration
	started []string
	begin   time.Time
	most    int
	now     int
	may     func() bool
	back    map[string]time.Duration // when what is away comes back, since begin; absent = never
	looks   int
}

var ok = end{Ended: Ended{OK: true}}

func again(after time.Duration) end { return end{Ended: Ended{Again: true, After: after}} }

func (s *script) Runtime(job string) string    { return "rt-" + job[:1] }
func (s *script) Spacing(string) time.Duration { return s.space }
func (s *script) Back(job string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	at, ever := s.back[job]
	return ever && time.Since(s.begin) >= at
}
func (s *script) MayStart(string) bool { return s.may == nil || s.may() }
func (s *script) Attempt(ctx context.Context, at Start) Ended {
	job, n := at.Job, at.N
	s.mu.Lock()
	s.started = append(s.started, fmt.Sprintf("%s.%d@%v", job, n, time.Since(s.begin)))
	s.now++
	s.most = max(s.most, s.now)
	ends := s.ends[job]
	s.mu.Unlock()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
	if len(ends) == 0 {
		return Ended{OK: true}
	}
	e := ends[min(n, len(ends))-1]
	if e.Pause != "" {
		s.hold(e.Pause, e.For)
	}
	return e.Ended
}

func (s *script) hold(rt string, d time.Duration) {
	if s.held == nil {
		s.held = map[string]time.Time{}
	}
	s.held[rt] = time.Time{}
	if d > 0 {
		s.held[rt] = time.Now().Add(d)
	}
}

func run(t *testing.T, g *line, s *script, slots int, limit time.Duration) {
	t.Helper()
	s.begin = time.Now()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	(&Loop{Graph: g, Backend: s, Slots: slots}).Run(ctx)
}

// resume runs a loop that takes over from an earlier process.
func resume(g Graph, s *script, slots int, made map[string]int, carry ...string) {
	s.begin = time.Now()
	(&Loop{Graph: g, Backend: s, Slots: slots, Attempts: made, Carry: carry}).Run(context.Background())
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	slices.Sort(got) // those of one instant start in any order
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("starts\n got %v\nwant %v", got, want)
	}
}

func TestDependentStartsWhenItsOwnDependencyEndsNotAStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{ends: map[string][]end{"b": {again(0), ok}}}
		run(t, newLine(map[string][]string{"c": {"a"}}, "a", "b", "c"), s, 3, 0)
		want(t, s.started, "a.1@0s", "b.1@0s", "b.2@1s", "c.1@1s")
	})
}

func TestNeverMoreThanTheSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		run(t, newLine(nil, "a", "b", "c", "d", "e"), s, 2, 0)
		if s.most != 2 || len(s.started) != 5 {
			t.Errorf("at most %d at once, %d starts; want 2 and 5", s.most, len(s.started))
		}
	})
}

func TestRetryWaitsItsBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{ends: map[string][]end{"a": {again(5 * time.Second), ok}}}
		run(t, newLine(nil, "a"), s, 1, 0)
		want(t, s.started, "a.1@0s", "a.2@6s")
	})
}

func TestPausedRuntimeStartsNothingUntilItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{ends: map[string][]end{"a1": {{Pause: "rt-a", For: 9 * time.Second}}}}
		run(t, newLine(nil, "a1", "a2", "b1"), s, 1, 0)
		want(t, s.started, "a1.1@0s", "b1.1@1s", "a2.1@10s")
	})
}

func TestRuntimeOutOfQuotaIsLeftAloneForTheRestOfTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{ends: map[string][]end{"a1": {{Pause: "rt-a"}}}}
		g := newLine(nil, "a1", "a2", "b1")
		run(t, g, s, 1, 0)
		want(t, s.started, "a1.1@0s", "b1.1@1s")
		if g.begun["a2"] {
			t.Error("a2 was started on a runtime without quota")
		}
	})
}

func TestStartsOfASharedRuntimeAreSpaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{space: 250 * time.Millisecond}
		run(t, newLine(nil, "a1", "b1", "a2"), s, 3, 0)
		want(t, s.started, "a1.1@0s", "b1.1@0s", "a2.1@250ms")
	})
}

func TestNothingStartsAfterTheEndOfTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		run(t, newLine(nil, "a", "b"), s, 1, 500*time.Millisecond)
		want(t, s.started, "a.1@0s")
	})
}

func TestNothingStartsWhenTheBudgetIsSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		s.may = func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.started) < 2 }
		run(t, newLine(nil, "a", "b", "c"), s, 1, 0)
		want(t, s.started, "a.1@0s", "b.1@1s")
	})
}

func TestAttemptNumbersGoOnWhereTheyWere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{ends: map[string][]end{"a": {{}, {}, again(0), ok}}}
		made := map[string]int{"a": 2}
		resume(newLine(nil, "a", "b"), s, 2, made)
		want(t, s.started, "a.3@0s", "a.4@1s", "b.1@0s")
		if made["a"] != 2 {
			t.Errorf("the caller's count was changed: %v", made)
		}
	})
}

func TestAttemptsUnderWayAreCarriedOnFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{ends: map[string][]end{"c": {{}, again(0), ok}}}
		resume(newLine(map[string][]string{"d": {"c"}}, "a", "b", "c", "d"), s, 2, map[string]int{"c": 2, "b": 1}, "b", "c")
		want(t, s.started, "b.1@0s", "c.2@0s", "a.1@1s", "c.3@1s", "d.1@2s")
		if s.most != 2 {
			t.Errorf("at most %d at once, want 2", s.most)
		}
	})
}

func TestMoreUnderWayThanSlotsComeBeforeAllElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		resume(newLine(nil, "a", "b", "c"), s, 1, map[string]int{"b": 1, "c": 1}, "b", "c")
		want(t, s.started, "b.1@0s", "c.1@1s", "a.1@2s")
	})
}

// An attempt that runs already is no start that could tear shared files, but the
// next start might come a moment after its own.
func TestCarriedAttemptsAreNotSpacedAndOthersAreSpacedFromThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{space: 250 * time.Millisecond}
		resume(newLine(nil, "a1", "a2", "a3", "b1"), s, 4, map[string]int{"a1": 1, "a2": 1}, "a1", "a2")
		want(t, s.started, "a1.1@0s", "a2.1@0s", "b1.1@0s", "a3.1@250ms")
	})
}

// Whoever resumes only to stop, or with its budget spent, still sees them through.
func TestCarriedAttemptsAreSeenThroughWhenNothingMayStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{may: func() bool { return false }, begin: time.Now()}
		g := newLine(nil, "a", "b", "c")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		(&Loop{Graph: g, Backend: s, Slots: 1, Attempts: map[string]int{"a": 3, "b": 1}, Carry: []string{"a", "b"}}).Run(ctx)
		want(t, s.started, "a.3@0s", "b.1@0s")
		if !g.settled["a"] || !g.settled["b"] || g.begun["c"] {
			t.Errorf("settled %v, begun %v", g.settled, g.begun)
		}
	})
}

// tracked is the real graph.
type tracked struct{ *graph.Tracker }

func (g tracked) Settle(id string, ok bool) { g.Tracker.Settle(id, ok, "failed") }

func TestCarriedJobsHoldTheirSerializeKey(t *testing.T) {
	keyed := func(id string) spec.Job {
		return spec.Job{ID: id, Effect: "observe", Cwd: "/w", Serialize: "key"}
	}
	for name, slots := range map[string]int{"slots for all": 3, "one slot": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, errs := graph.New(&spec.Spec{Jobs: []spec.Job{keyed("a"), keyed("b")}})
				if errs != nil {
					t.Fatal(errs)
				}
				s := &script{}
				resume(tracked{g.Track()}, s, slots, map[string]int{"b": 1}, "b")
				want(t, s.started, "b.1@0s", "a.1@1s")
			})
		})
	}
}

// What an earlier process decided about the next attempt holds for this one.
func TestWhatWasHeldBackStaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newLine(nil, "a", "b", "c")
		s := &script{begin: time.Now(), ends: map[string][]end{"a": {{}, again(0), ok}}}
		s.hold("rt-b", 3*time.Second)
		(&Loop{
			Graph: g, Backend: s, Slots: 3, Attempts: map[string]int{"a": 1},
			Due: map[string]time.Time{"a": s.begin.Add(5 * time.Second)},
		}).Run(t.Context())
		want := []string{"c.1@0s", "b.1@3s", "a.2@5s", "a.3@6s"}
		if !slices.Equal(s.started, want) {
			t.Errorf("%v, want %v", s.started, want)
		}
	})
}

// A job that waits for its next attempt holds no serialize key meanwhile, whether it
// waits for a time or for a quota.
func TestWaitingJobsHoldNoSerializeKey(t *testing.T) {
	for name, c := range map[string]struct {
		first end
		want  []string
	}{
		"for a time":  {again(5 * time.Second), []string{"a1.1@0s", "b1.1@1s", "a1.2@6s"}},
		"for a quota": {end{Ended: Ended{Again: true}, Pause: "rt-a"}, []string{"a1.1@0s", "b1.1@1s"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var jobs []spec.Job
				for _, id := range []string{"a1", "b1"} {
					jobs = append(jobs, spec.Job{ID: id, Effect: "observe", Cwd: "/w", Serialize: "key"})
				}
				g, errs := graph.New(&spec.Spec{Jobs: jobs})
				if errs != nil {
					t.Fatal(errs)
				}
				s := &script{ends: map[string][]end{"a1": {c.first, ok}}}
				resume(tracked{g.Track()}, s, 2, nil)
				want(t, s.started, c.want...)
			})
		})
	}
}

// A job that goes back before its attempt was begun has used up no number.
func TestWhatWasPutBackHasItsNumberStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{begin: time.Now()}
		(&Loop{Graph: newLine(nil, "a"), Backend: &puttingBack{script: s}, Slots: 1}).Run(t.Context())
		want(t, s.started, "a.1@0s", "a.1@5s")
	})
}

// puttingBack is a backend that puts its first job back, once.
type puttingBack struct {
	*script
	done bool
}

func (p *puttingBack) Attempt(ctx context.Context, at Start) Ended {
	if !p.done {
		p.done = true
		p.started = append(p.started, fmt.Sprintf("%s.%d@%v", at.Job, at.N, time.Since(p.begin)))
		return Ended{Again: true, Unmade: true, After: 5 * time.Second}
	}
	return p.script.Attempt(ctx, at)
}
