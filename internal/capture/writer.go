package capture

import (
	"errors"
	"fmt"
	"os"

	"orchestrate/internal/secret"
)

const (
	// DefaultMax is how many bytes of a stream are kept when nothing is said.
	DefaultMax = 1 << 20
	// gather is how many bytes of the head are collected before they are redacted.
	gather = 64 << 10
	// alignLine is how far the head's end moves back to the end of a line.
	alignLine = 4 << 10
)

// Writer keeps the first and the last bytes of one stream in a file, redacted
// and valid UTF-8. The head grows on disk as whole lines become known, the tail
// is a ring in memory whose redacted text stands in <path>.tail after a Flush
// and behind the head after Close.
//
// Nothing of a secret reaches the disk, also when it comes in several writes or
// lies where the stream is cut. Bytes that are no UTF-8 become U+FFFD.
//
// Failures of the disk do not disturb the child: they are counted, and told by
// Close. A Writer is not safe for concurrent use.
type Writer struct {
	path string
	red  *secret.Redactor
	file *os.File
	tail *os.File // <path>.tail, once there was something to put there

	budget  int    // bytes on disk that are left for head and tail
	headMax int    // bytes on disk that are left for the head
	head    []byte // raw bytes that belong to the head and are not on disk
	full    bool   // the head has ended; what follows goes to the ring
	ring    ring
	dirty   bool // the ring has changed since it was put on disk

	spans  []secret.Span
	pieces []piece
	out    []byte
	errs   int
	err    error // the first failure
	closed bool
}

// Create makes the file at path (mode 0600, an older one is emptied) and returns
// a Writer that keeps limit bytes (0 or less: 1 MiB), half of them from the start.
// A nil redactor redacts nothing.
func Create(path string, limit int64, red *secret.Redactor) (*Writer, error) {
	if limit <= 0 {
		limit = DefaultMax
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create capture file: %w", err)
	}
	w := &Writer{path: path, red: red, file: f, budget: int(limit), headMax: int(limit / 2)}
	w.ring.limit = int(limit-limit/2) + red.Window()
	return w, nil
}

// Write takes the next bytes of the stream. It always reports success.
func (w *Writer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && !w.full {
		k := min(len(p), gather)
		w.head = append(w.head, p[:k]...)
		p = p[k:]
		if len(w.head) >= gather {
			w.advance()
		}
	}
	if len(p) > 0 {
		w.ring.write(p)
		w.dirty = true
	}
	return n, nil
}

// Flush puts on disk what can be shown by now: whole lines of the head, and the
// tail as it is. Its error is also told by Close.
func (w *Writer) Flush() error {
	if !w.full {
		w.advance()
	}
	if w.full && w.dirty {
		w.flushTail()
	}
	return w.err
}

// Close puts the kept tail in place and returns how many bytes of the stream
// were dropped between head and tail.
func (w *Writer) Close() (dropped int64, err error) {
	if w.closed {
		return 0, errors.New("capture is already closed")
	}
	w.closed = true
	if !w.full {
		w.finishHead()
	}
	dropped = w.finishTail()
	if err := w.file.Close(); err != nil {
		w.failed(err)
	}
	if w.tail != nil {
		if err := errors.Join(w.tail.Close(), os.Remove(w.tail.Name())); err != nil {
			w.failed(err)
		}
	}
	w.head, w.out, w.spans, w.pieces, w.ring.buf = nil, nil, nil, nil, nil
	if w.err != nil {
		return dropped, fmt.Errorf("capture to %s is incomplete (%d failed writes, the first: %w)", w.path, w.errs, w.err)
	}
	return dropped, nil
}

// advance writes that part of the head which no later byte can change.
func (w *Writer) advance() {
	if len(w.head) == 0 {
		return
	}
	w.spans = w.red.AppendSpans(w.spans[:0], w.head)
	cut := w.red.SafeCut(w.head, w.spans)
	if cut == 0 && len(w.head) >= gather+w.red.Window() {
		cut = w.forced()
	}
	w.emitHead(wholeRunes(w.head, cut))
}

// forced is the cut for a match that is longer than any secret: its end.
func (w *Writer) forced() int {
	if len(w.spans) > 0 {
		return w.spans[0].End
	}
	return len(w.head)
}

// finishHead writes all of the head that fits; the rest becomes the tail.
func (w *Writer) finishHead() {
	w.spans = w.red.AppendSpans(w.spans[:0], w.head)
	w.emitHead(len(w.head))
}

// emitHead writes the redacted text of w.head[:cut], and ends the head when that
// is more than fits.
func (w *Writer) emitHead(cut int) {
	w.pieces = pieces(w.pieces[:0], w.spans, 0, cut)
	end := headOf(w.head, w.pieces, w.headMax)
	if end < cut {
		w.full = true
		end = w.alignHead(end)
		w.pieces = pieces(w.pieces[:0], w.spans, 0, end)
	}
	w.out = w.out[:0]
	for _, p := range w.pieces {
		w.out = appendPiece(w.out, w.head, p)
	}
	w.headMax -= len(w.out)
	w.budget -= len(w.out)
	w.put(w.out)
	if w.full {
		w.ring.write(w.head[end:])
		w.dirty = true
		w.head = nil
		return
	}
	w.head = append(w.head[:0], w.head[end:]...)
}

// alignHead moves the head's end to the end of a line when one is near, and out
// of what makes a secret recognisable.
func (w *Writer) alignHead(end int) int {
	for i := end; i > 0 && end-i < alignLine; i-- {
		if w.head[i-1] == '\n' {
			return secret.Before(w.spans, i)
		}
	}
	return secret.Before(w.spans, end)
}

// put appends to the file.
func (w *Writer) put(b []byte) {
	if len(b) == 0 {
		return
	}
	if _, err := w.file.Write(b); err != nil {
		w.failed(err)
	}
}

func (w *Writer) failed(err error) {
	w.errs++
	if w.err == nil {
		w.err = err
	}
}
