package inventory

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"orchestrate/internal/runtime"
)

// gated is a host whose questions last until they are let go, and that counts those
// under way.
type gated struct {
	still
	letGo chan struct{}

	mu    sync.Mutex
	now   int
	most  int
	of    map[string]int // of each runtime
	twice bool           // one runtime had two under way
}

func (g *gated) Run(ctx context.Context, q runtime.Question) runtime.Answer {
	g.mu.Lock()
	g.now++
	g.most = max(g.most, g.now)
	g.of[q.Argv[0]]++
	g.twice = g.twice || g.of[q.Argv[0]] > 1
	g.mu.Unlock()
	if !slices.Contains(q.Argv, "quick") {
		select {
		case <-g.letGo:
		case <-ctx.Done():
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now--
	g.of[q.Argv[0]]--
	cpu := int64(3)
	return runtime.Answer{CPUMs: &cpu, Evidence: runtime.Evidence{DurationMs: 10}}
}

// asks is an adapter that puts its questions all at once.
func asks(name, what string, n int) runtime.Adapter {
	return recipe{name: name, probe: func(ctx context.Context, h runtime.Host) runtime.Profile {
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() { h.Run(ctx, runtime.Question{Argv: []string{name, what}}) })
		}
		wg.Wait()
		return runtime.Profile{Kind: runtime.KindCLI, State: runtime.StateAvailable}
	}}
}

func TestQuestionsTakeTurns(t *testing.T) {
	g := &gated{letGo: make(chan struct{}), of: map[string]int{}}
	close(g.letGo)
	var adapters []runtime.Adapter
	for i := range 9 {
		adapters = append(adapters, asks(fmt.Sprint("r", i), "slow", 5))
	}
	inv := Prober{Together: 3}.Probe(context.Background(), g, adapters)
	if g.most > 3 || g.twice {
		t.Errorf("%d questions at a time, two of one runtime: %t", g.most, g.twice)
	}
	if c := inv.Cost; c.Questions != 45 || c.SumMs != 450 || c.CPUMs == nil || *c.CPUMs != 135 {
		t.Errorf("cost %+v", c)
	}
}

// As many programs hang as there are turns: the others get theirs all the same, and
// are through before any that hangs has ended.
func TestHangingProgramsHoldNobodyUp(t *testing.T) {
	g := &gated{letGo: make(chan struct{}), of: map[string]int{}}
	through := make(chan struct{})
	var quick sync.WaitGroup
	adapters := []runtime.Adapter{asks("h1", "hang", 1), asks("h2", "hang", 1)}
	for i := range 6 {
		quick.Add(1)
		a := asks(fmt.Sprint("q", i), "quick", 4)
		adapters = append(adapters, recipe{name: a.Name(), probe: func(ctx context.Context, h runtime.Host) runtime.Profile {
			defer quick.Done()
			return a.Probe(ctx, h)
		}})
	}
	go func() {
		quick.Wait()
		close(through)
		close(g.letGo) // only now do the others end
	}()
	Prober{Together: 2, Patience: time.Millisecond}.Probe(context.Background(), g, adapters)
	select {
	case <-through:
	default:
		t.Error("a program that hangs was waited for")
	}
}

// Waiting for the others' questions is not counted against a runtime.
func TestABudgetIsNotSpentOnWaiting(t *testing.T) {
	ctx, b, cancel := withBudget(context.Background(), time.Hour)
	defer cancel()
	b.pause()
	b.left = 0 // used up, were it not for the pause
	if ctx.Err() != nil {
		t.Error("it ran on while it was paused")
	}
	b.resume()
	<-ctx.Done()
}
