package dispatch

import (
	"context"
	"slices"
	"sync"
)

// Step is how far a start has come.
type Step int

// The steps of a start, in their order. Each is taken in the order in which the loop made
// the starts, however long what lies between them takes one or the other.
const (
	StepIntended Step = iota + 1 // it is on record that the attempt begins
	StepHanded                   // somebody is told to run its program
	StepBegun                    // it is on record that it runs, or it never will
)

// Line holds the starts that others may have to wait for. The zero value is an empty one.
type Line struct {
	mu    sync.Mutex
	turns []*Turn       // in the order in which they were made
	moved chan struct{} // closed when one of them has come further
}

// Turn is the place of one start among the others of its loop. Those behind it wait for it
// until it has taken the step that they are about to take, has ended, or has let them pass.
// A nil Turn is in no line: it waits for nobody, and nobody for it.
type Turn struct {
	line  *Line
	step  Step
	aside bool
}

// Join adds a start at the end of the line.
func (l *Line) Join() *Turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.moved == nil {
		l.moved = make(chan struct{})
	}
	t := &Turn{line: l}
	l.turns = append(l.turns, t)
	return t
}

// Await returns when it is the start's turn to take a step, or ctx has ended.
func (t *Turn) Await(ctx context.Context, step Step) {
	for t != nil {
		moved, free := t.look(step)
		if free {
			return
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return
		}
	}
}

// look says whether it is the start's turn; if not, moved is closed when that may have
// changed.
func (t *Turn) look(step Step) (moved <-chan struct{}, free bool) {
	t.line.mu.Lock()
	defer t.line.mu.Unlock()
	for _, before := range t.line.turns {
		if before == t || t.step >= step {
			break
		}
		if before.step < step && (!before.aside || t.aside) {
			return t.line.moved, false
		}
	}
	return nil, true
}

// Took says that the start has taken a step, so that those behind it may.
func (t *Turn) Took(step Step) {
	t.change(func() { t.step = max(t.step, step) })
}

// StepAside lets those behind it pass that have not stepped aside themselves: what it does
// until its next step takes long, and they need nothing of the kind. Those that have keep
// their order.
func (t *Turn) StepAside() {
	t.change(func() { t.aside = true })
}

// Leave lets all behind it pass, for good.
func (t *Turn) Leave() { t.Took(StepBegun) }

func (t *Turn) change(f func()) {
	if t == nil {
		return
	}
	t.line.mu.Lock()
	defer t.line.mu.Unlock()
	f()
	if t.step == StepBegun {
		t.line.turns = slices.DeleteFunc(t.line.turns, func(o *Turn) bool { return o == t })
	}
	close(t.line.moved)
	t.line.moved = make(chan struct{})
}
