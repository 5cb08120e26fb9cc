package inventory

import (
	"context"
	goruntime "runtime"
	"sync"
	"time"
)

// patience is how long a question keeps others waiting. One that takes longer, as a
// program that hangs does, goes on, but hands its turn on.
const patience = 5 * time.Second

// together is how many questions get a turn at a time, over all runtimes. What they
// compete for is the processor: with more of them under way each takes longer, and
// the first run into their limits.
func together() int { return max(4, 2*goruntime.GOMAXPROCS(0)) }

// turns are handed out to those that wait for one in the order in which they came, so
// that a runtime with many questions does not hold up one with few.
type turns struct {
	free     chan struct{}
	patience time.Duration
}

func newTurns(most int, patience time.Duration) *turns {
	return &turns{free: make(chan struct{}, most), patience: patience}
}

// take waits for a turn. It ends with done, or once patience is over; done is nil when
// ctx ended first.
func (t *turns) take(ctx context.Context) (done func()) {
	select {
	case t.free <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	var once sync.Once
	end := func() { once.Do(func() { <-t.free }) }
	late := time.AfterFunc(t.patience, end)
	return func() {
		late.Stop()
		end()
	}
}
