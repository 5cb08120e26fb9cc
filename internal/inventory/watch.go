package inventory

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
	"orchestrate/internal/shellword"
)

// DefaultTimeout bounds one question that names no limit of its own.
const DefaultTimeout = 15 * time.Second

// watch is the host of one runtime's probe. It lets one question through at a time,
// when it is its turn, and remembers what the answers say of the program whatever it
// was asked: that it hangs, or does not run here at all.
type watch struct {
	runtime.Host
	turns  *turns
	budget *budget
	one    sync.Mutex

	mu    sync.Mutex
	asked string // the first question that got no answer in time
	limit time.Duration
	node  probe.NodeNeed
	cost  Cost
}

// Run passes the question on.
func (w *watch) Run(ctx context.Context, q runtime.Question) runtime.Answer {
	w.one.Lock()
	defer w.one.Unlock()
	w.budget.pause()
	done := w.turns.take(ctx)
	w.budget.resume()
	if done != nil { // else ctx has ended, and the host says so
		defer done()
	}
	a := w.Host.Run(ctx, q)
	w.heard(q, a)
	return a
}

func (w *watch) heard(q runtime.Question, a runtime.Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cost.add(a)
	if a.TimedOut && w.asked == "" {
		w.asked, w.limit = byHand(q, a), limitOf(q)
	}
	if need, ok := probe.NeedsNode(a); ok {
		w.node = need
	}
}

// byHand is the question as a person can put it, without the shell around the program.
// The evidence has it redacted.
func byHand(q runtime.Question, a runtime.Answer) string {
	asked := cmp.Or(a.Evidence.Asked, shellword.Join(q.Argv))
	if q.Lead > 0 {
		asked = strings.TrimPrefix(asked, shellword.Join(q.Argv[:q.Lead])+" ")
	}
	return asked
}

// said is what was heard so far.
func (w *watch) said() (asked string, limit time.Duration, node probe.NodeNeed, cost Cost) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked, w.limit, w.node, w.cost
}

func limitOf(q runtime.Question) time.Duration {
	if q.Timeout > 0 {
		return q.Timeout
	}
	return DefaultTimeout
}
