package inventory

import (
	"context"
	"sync"
	"time"
)

// budget ends a context when the time of one runtime is used up. The time in which it
// waits for its turn is not its own and does not count.
type budget struct {
	mu    sync.Mutex
	left  time.Duration
	since time.Time
	timer *time.Timer
}

func withBudget(parent context.Context, all time.Duration) (context.Context, *budget, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	b := &budget{left: all, since: time.Now(), timer: time.AfterFunc(all, cancel)}
	return ctx, b, func() {
		b.pause()
		cancel()
	}
}

func (b *budget) pause() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer.Stop() {
		b.left -= time.Since(b.since)
	}
}

// resume lets it run on; one that is used up ends its context at once.
func (b *budget) resume() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.since = time.Now()
	b.timer.Reset(max(b.left, 0))
}
