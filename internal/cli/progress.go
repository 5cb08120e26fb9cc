package cli

import (
	"io"
	"strings"
	"sync"
	"sync/atomic"
)

// progress is what the engine says, on its way to who reads it, or to nobody when they
// have gone. While a view has the terminal it is held.
type progress struct {
	to    io.Writer
	shown atomic.Int64  // bytes
	moved chan struct{} // holds one: more was shown
	told  func(line string)

	mu      sync.Mutex
	broken  error // there is nowhere left to say so
	holding bool
	held    []byte
}

func newProgress(to io.Writer) *progress {
	return &progress{to: to, moved: make(chan struct{}, 1)}
}

func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.holding {
		p.pass(text)
		return len(text), nil
	}
	p.held = append(p.held, text...)
	if p.told != nil {
		for line := range strings.Lines(string(text)) {
			p.told(line)
		}
	}
	return len(text), nil
}

func (p *progress) pass(text []byte) {
	if p.broken == nil {
		_, p.broken = p.to.Write(text)
	}
	p.shown.Add(int64(len(text)))
	select {
	case p.moved <- struct{}{}:
	default:
	}
}

// hold keeps what comes until let.
func (p *progress) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holding = true
}

// let shows what was held, and what comes from now on at once.
func (p *progress) let() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.holding {
		p.holding = false
		p.pass(p.held)
		p.held = nil
	}
}

// failure is why something could not be shown.
func (p *progress) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.broken
}
