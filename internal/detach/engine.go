package detach

import (
	"context"
	"sync"

	"orchestrate/internal/process"
)

// Control is the engine's end of the control socket. Nothing on it waits for the
// viewer.
type Control struct {
	link       *link
	interrupts chan struct{}
	answers    chan Answer
	gone       chan struct{} // closed when there is no viewer any more
	once       sync.Once

	asking sync.Mutex // one question at a time
	asked  int
}

func newControl(l *link) *Control {
	c := &Control{link: l, interrupts: make(chan struct{}, 8), answers: make(chan Answer, 1), gone: make(chan struct{})}
	self := process.Self()
	l.send(Message{Engine: &self})
	go c.listen()
	return c
}

func (c *Control) listen() {
	defer close(c.gone)
	for m := range c.link.receive() {
		if m.Interrupt {
			notify(c.interrupts)
		}
		if m.Answer != nil {
			select {
			case <-c.answers: // nobody waited for that one any more
			default:
			}
			c.answers <- *m.Answer
		}
	}
}

// Ask puts a question to the person at the viewer and waits for the answer. They see it
// after so many bytes of standard error. A viewer that has gone, or goes meanwhile, and a
// ctx that ends give none.
func (c *Control) Ask(ctx context.Context, text string, after int64) Answer {
	c.asking.Lock()
	defer c.asking.Unlock()
	c.asked++
	q := Question{N: c.asked, Text: text, After: after}
	c.link.send(Message{Question: &q})
	for {
		select {
		case a := <-c.answers:
			if a.N == q.N {
				return a
			}
		case <-c.gone:
			return Answer{}
		case <-ctx.Done():
			return Answer{}
		}
	}
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
