package dispatch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// lent is a script whose jobs of some names are handed to somebody else: their attempt
// ends at once as away, and in earnest when they are back or the context has ended.
type lent struct {
	*script
	far   map[string]bool
	turns map[string]int
}

func (l *lent) Attempt(ctx context.Context, at Start) Ended {
	job := at.Job
	if !l.far[job] {
		return l.script.Attempt(ctx, at)
	}
	l.mu.Lock()
	l.turns[job]++
	first := l.turns[job] == 1
	l.mu.Unlock()
	if first && ctx.Err() == nil {
		return Ended{Away: true}
	}
	return l.script.Attempt(ctx, at)
}

func lend(s *script, jobs ...string) *lent {
	l := &lent{script: s, far: map[string]bool{}, turns: map[string]int{}}
	for _, j := range jobs {
		l.far[j] = true
	}
	return l
}

func TestWhatIsAwayTakesNoSlotAndComesBackWithItsNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{begin: time.Now(), back: map[string]time.Duration{"a": 1500 * time.Millisecond}}
		g := newLine(map[string][]string{"d": {"a"}}, "a", "b", "c", "d")
		(&Loop{Graph: g, Backend: lend(s, "a"), Slots: 1}).Run(context.Background())
		// a was out while b ran; it is back within c's turn and comes before d.
		want(t, s.started, "b.1@0s", "c.1@1s", "a.1@2s", "d.1@3s")
		if s.most != 1 {
			t.Errorf("%d at once", s.most)
		}
	})
}

func TestTheLoopEndsWhenOnlyWhatIsAwayIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{begin: time.Now()}
		g := newLine(map[string][]string{"c": {"a"}}, "a", "b", "c")
		(&Loop{Graph: g, Backend: lend(s, "a"), Slots: 2}).Run(context.Background())
		if took := time.Since(s.begin); took != time.Second {
			t.Errorf("it ended after %v, want when b had ended", took)
		}
		if _, over := g.settled["a"]; over || g.begun["c"] {
			t.Errorf("a settled %v, c begun %v", over, g.begun["c"])
		}
		if s.looks > 10 {
			t.Errorf("it asked %d times within a second", s.looks)
		}
	})
}

func TestWhatIsAwayIsSeenThroughWhenTheRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{begin: time.Now()}
		g := newLine(nil, "a", "x", "b")
		ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		defer cancel()
		l := lend(s, "a", "x")
		(&Loop{Graph: g, Backend: l, Slots: 1}).Run(ctx)
		if !g.settled["a"] || !g.settled["x"] || l.turns["a"] != 2 || l.turns["x"] != 2 {
			t.Errorf("settled %v after %v turns", g.settled, l.turns)
		}
	})
}

func TestWhatAnEarlierProcessLeftAwayIsAskedAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{begin: time.Now(), back: map[string]time.Duration{"a": 300 * time.Millisecond}}
		g := newLine(nil, "a", "b")
		(&Loop{Graph: g, Backend: lend(s, "a"), Slots: 2, Attempts: map[string]int{"a": 3}, Carry: []string{"a"}}).Run(context.Background())
		want(t, s.started, "b.1@0s", "a.3@400ms")
	})
}
