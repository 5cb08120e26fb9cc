package secret

import (
	"errors"
	"io"
)

// copyChunk is how many bytes Copy reads at a time.
const copyChunk = 1 << 20

// Copy copies src to dst with every secret replaced. It needs little memory,
// whatever the size.
func (r *Redactor) Copy(dst io.Writer, src io.Reader) error {
	return r.walk(src, func(b []byte, spans []Span) error { return writeRedacted(dst, b, spans) })
}

// writerPart is how much a Writer holds before it hands something on.
const writerPart = 128 << 10

// Writer hands on to dst what is written to it, with every secret replaced. Close hands on
// what is held back until then; it does not close dst.
func (r *Redactor) Writer(dst io.Writer) io.WriteCloser {
	return &writer{r: r, dst: dst, full: writerPart}
}

type writer struct {
	r    *Redactor
	dst  io.Writer
	held []byte
	full int // when to look for a place to cut
}

// Write implements io.Writer.
func (w *writer) Write(b []byte) (int, error) {
	w.held = append(w.held, b...)
	if len(w.held) < w.full {
		return len(b), nil
	}
	spans := w.r.AppendSpans(nil, w.held)
	if err := w.pass(w.r.SafeCut(w.held, spans), spans); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close implements io.Closer.
func (w *writer) Close() error { return w.pass(len(w.held), w.r.AppendSpans(nil, w.held)) }

func (w *writer) pass(cut int, spans []Span) error {
	err := writeRedacted(w.dst, w.held[:cut], upTo(spans, cut))
	w.held = append(w.held[:0], w.held[cut:]...)
	w.full = 2*len(w.held) + writerPart // nothing may be cut off for long
	return err
}

// Match is a secret that was found, told without the secret itself.
type Match struct {
	Rule, Fingerprint string
	Certain           bool // see the function of that name
}

// Matches are the secrets in a text.
func (r *Redactor) Matches(text string) []Match {
	return matches([]byte(text), r.AppendSpans(nil, []byte(text)))
}

func matches(b []byte, spans []Span) (found []Match) {
	for _, s := range spans {
		value := string(b[s.Start:s.End])
		found = append(found, Match{s.Rule, Fingerprint(s.Rule, value), Certain(s.Rule, value)})
	}
	return found
}

// Search returns what Copy would replace, each value once.
func (r *Redactor) Search(src io.Reader) (found []Match, err error) {
	seen := map[Match]bool{}
	err = r.walk(src, func(b []byte, spans []Span) error {
		for _, m := range matches(b, spans) {
			if !seen[m] {
				seen[m] = true
				found = append(found, m)
			}
		}
		return nil
	})
	return found, err
}

// walk hands on src in parts that cut through no secret, with the secrets of each.
func (r *Redactor) walk(src io.Reader, each func(b []byte, spans []Span) error) error {
	buf := make([]byte, 0, 2*copyChunk)
	for {
		if cap(buf)-len(buf) < copyChunk { // nothing could be cut off for long
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		n, readErr := src.Read(buf[len(buf) : len(buf)+copyChunk])
		buf = buf[:len(buf)+n]
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return readErr
		}
		spans := r.AppendSpans(nil, buf)
		cut := len(buf)
		if readErr == nil {
			cut = r.SafeCut(buf, spans)
		}
		if err := each(buf[:cut], upTo(spans, cut)); err != nil || readErr != nil {
			return err
		}
		buf = append(buf[:0], buf[cut:]...)
	}
}

// upTo are the spans that end before cut; none lies across it.
func upTo(spans []Span, cut int) []Span {
	for k := range spans {
		if spans[k].End > cut {
			return spans[:k]
		}
	}
	return spans
}

// writeRedacted writes b without the spans.
func writeRedacted(dst io.Writer, b []byte, spans []Span) error {
	at := 0
	for _, s := range spans {
		if _, err := dst.Write(s.AppendMark(b[at:s.Start:s.Start])); err != nil {
			return err
		}
		at = s.End
	}
	_, err := dst.Write(b[at:])
	return err
}
