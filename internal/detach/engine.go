package detach

import (
	"sync"

	"orchestrate/internal/process"
)

// Control is the engine's end of the control socket. Nothing on it waits for the
// viewer.
type Control struct {
	link       *link
	interrupts chan struct{}
	once       sync.Once
}

func newControl(l *link) *Control {
	c := &Control{link: l, interrupts: make(chan struct{}, 8)}
	self := process.Self()
	l.send(Message{Engine: &self})
	go func() {
		for m := range l.receive() {
			if m.Interrupt {
				notify(c.interrupts)
			}
		}
	}()
	return c
}

// Interrupts tells of every interrupt that the viewer forwards.
func (c *Control) Interrupts() <-chan struct{} { return c.interrupts }

// Begun says that the run directory is there.
func (c *Control) Begun(runID, dir string) {
	c.link.send(Message{Begun: &Begun{RunID: runID, Dir: dir}})
}

// Ended says with which status this process ends now. Only the first call counts.
func (c *Control) Ended(status int) {
	c.once.Do(func() { c.link.send(Message{Ended: &Ended{Status: status}}) })
}
