package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"orchestrate/internal/supervise"
)

// Supervisor owns one process tree at a time; *supervise.Slot is one.
type Supervisor interface {
	// Run carries out one invocation; see supervise.Slot.
	Run(ctx context.Context, inv supervise.Invocation, locks []*os.File, started func(supervise.Process)) (supervise.Exit, error)
	// Idle reports whether the last tree is proven gone.
	Idle() bool
	// Kill ends the running tree without further grace.
	Kill()
	// Destroy kills the supervisor: one that does not react any more.
	Destroy()
	// Close ends the supervisor itself.
	Close() error
}

// slots holds one supervisor per slot, started when first needed and reused for
// one tree after another. A supervisor that could not prove its last tree gone is
// never used again.
type slots struct {
	start func(context.Context) (Supervisor, error)

	mu   sync.Mutex
	all  []Supervisor
	dead []Supervisor // not idle: closed at the end
}

func newSlots(n int, start func(context.Context) (Supervisor, error)) *slots {
	return &slots{start: start, all: make([]Supervisor, n)}
}

// take returns the supervisor of a slot. One goroutine uses a slot at a time.
func (s *slots) take(ctx context.Context, i int) (Supervisor, error) {
	s.mu.Lock()
	have := s.all[i]
	s.mu.Unlock()
	if have != nil && have.Idle() {
		return have, nil
	}
	fresh, err := s.start(ctx)
	if err != nil {
		return nil, fmt.Errorf("no supervisor for slot %d: %w", i+1, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if have != nil {
		s.dead = append(s.dead, have)
	}
	s.all[i] = fresh
	return fresh, nil
}

// kill ends whatever runs, without grace.
func (s *slots) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.all {
		if v != nil {
			v.Kill()
		}
	}
}

// destroy kills the supervisors that still run something although they were told to
// kill it; what they ran is then ended by what was recorded of it.
func (s *slots) destroy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.all {
		if v != nil && !v.Idle() {
			v.Destroy()
		}
	}
}

func (s *slots) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, v := range append(s.all, s.dead...) {
		if v != nil {
			errs = append(errs, v.Close())
		}
	}
	s.all, s.dead = make([]Supervisor, len(s.all)), nil
	supervise.Tidy()
	return errors.Join(errs...)
}
