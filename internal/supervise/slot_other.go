//go:build !linux && !darwin

package supervise

import (
	"context"
	"os"
)

// Slot is the engine's handle of one supervisor process. There are none here.
type Slot struct{}

// Start always returns ErrUnavailable on this system.
func Start(context.Context, []string, string) (*Slot, error) { return nil, ErrUnavailable }

// Run always returns ErrUnavailable on this system.
func (s *Slot) Run(context.Context, Invocation, []*os.File, func(Process)) (Exit, error) {
	return Exit{}, ErrUnavailable
}

// PID is 0: there is no supervisor.
func (s *Slot) PID() int { return 0 }

// Idle is false: nothing can run here.
func (s *Slot) Idle() bool { return false }

// Kill does nothing.
func (s *Slot) Kill() {}

// Destroy does nothing here.
func (s *Slot) Destroy() {}

// Close does nothing.
func (s *Slot) Close() error { return nil }

// Serve always returns ErrUnavailable on this system.
func Serve(*os.File, Options) error { return ErrUnavailable }
