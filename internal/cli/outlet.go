package cli

import (
	"io"
	"sync"
)

// outlet is standard output that remembers whether all that was printed could be: who
// reads only that must not take silence for success.
type outlet struct {
	to io.Writer

	mu  sync.Mutex
	err error
}

func (o *outlet) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		o.mu.Lock()
		o.err = err
		o.mu.Unlock()
	}
	return n, err
}

// broken is why something could not be printed, nil if all was.
func (o *outlet) broken() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// whileWritten ends what only prints once that cannot be done any more.
func whileWritten(w io.Writer, over func()) func() {
	o, ok := w.(*outlet)
	return func() {
		if ok && o.broken() != nil {
			over()
		}
	}
}
