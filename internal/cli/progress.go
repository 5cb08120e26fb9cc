package cli

import (
	"io"
	"sync/atomic"
)

// progress is what the engine says, on its way to who reads it, or to nobody when they
// have gone.
type progress struct {
	to    io.Writer
	gone  bool
	shown atomic.Int64  // bytes
	moved chan struct{} // holds one: more was shown
}

func newProgress(to io.Writer) *progress {
	return &progress{to: to, moved: make(chan struct{}, 1)}
}

func (p *progress) Write(text []byte) (int, error) {
	if !p.gone {
		_, err := p.to.Write(text)
		p.gone = err != nil // there is nowhere left to say so
	}
	p.shown.Add(int64(len(text)))
	select {
	case p.moved <- struct{}{}:
	default:
	}
	return len(text), nil
}
