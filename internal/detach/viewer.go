package detach

import (
	"context"
	"errors"
	"os"
	"time"

	"orchestrate/internal/process"
)

// Viewer watches an engine that it started. It may go at any time.
type Viewer struct {
	Stdout, Stderr *os.File // what the engine prints; they end with it
	link           *link
	messages       <-chan Message
}

// Messages are what the engine says; the channel is closed when the engine has gone.
func (v *Viewer) Messages() <-chan Message { return v.messages }

// Interrupt forwards an interrupt.
func (v *Viewer) Interrupt() { v.link.send(Message{Interrupt: true}) }

// Answer answers a question of the engine.
func (v *Viewer) Answer(a Answer) { v.link.send(Message{Answer: &a}) }

// Close lets go of the engine, which goes on.
func (v *Viewer) Close() error {
	err := errors.Join(v.link.file.Close(), v.Stdout.Close(), v.Stderr.Close())
	for range v.messages { // whatever it still said
	}
	return err
}

const (
	firstLook = time.Millisecond
	slowLook  = 50 * time.Millisecond
)

// Gone returns when the process has ended, or cannot be told from others. An engine
// closes its end of the socket a moment before.
func Gone(ctx context.Context, id process.Identity) error {
	for every := firstLook; id.Fate() == process.Alive; every = min(2*every, slowLook) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(every):
		}
	}
	return nil
}
