package inventory

import (
	"cmp"
	"context"
	"sync"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/shellword"
)

// DefaultTimeout bounds one question that names no limit of its own.
const DefaultTimeout = 15 * time.Second

// watch remembers the first question that got no answer in time.
type watch struct {
	runtime.Host

	mu    sync.Mutex
	asked string
	limit time.Duration
}

// Run passes the question on.
func (w *watch) Run(ctx context.Context, q runtime.Question) runtime.Answer {
	a := w.Host.Run(ctx, q)
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.TimedOut && w.asked == "" {
		w.asked, w.limit = cmp.Or(a.Evidence.Asked, shellword.Join(q.Argv)), limitOf(q)
	}
	return a
}

func (w *watch) unanswered() (asked string, limit time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked, w.limit
}

func limitOf(q runtime.Question) time.Duration {
	if q.Timeout > 0 {
		return q.Timeout
	}
	return DefaultTimeout
}
