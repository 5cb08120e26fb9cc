package secret

import (
	"errors"
	"io"
)

// copyChunk is how many bytes Copy reads at a time.
const copyChunk = 1 << 20

// Copy copies src to dst with every secret replaced, and returns how many there
// were. It needs little memory, whatever the size. A nil dst only counts.
func (r *Redactor) Copy(dst io.Writer, src io.Reader) (found int64, err error) {
	if dst == nil {
		dst = io.Discard
	}
	buf := make([]byte, 0, 2*copyChunk)
	for {
		if cap(buf)-len(buf) < copyChunk { // nothing could be cut off for long
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		n, readErr := src.Read(buf[len(buf) : len(buf)+copyChunk])
		buf = buf[:len(buf)+n]
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return found, readErr
		}
		spans := r.AppendSpans(nil, buf)
		cut := len(buf)
		if readErr == nil {
			cut = r.SafeCut(buf, spans)
		}
		n, err = writeRedacted(dst, buf[:cut], spans)
		found += int64(n)
		if err != nil || readErr != nil {
			return found, err
		}
		buf = append(buf[:0], buf[cut:]...)
	}
}

// writeRedacted writes b, which cuts through no span, and returns how many of the
// spans lie in it.
func writeRedacted(dst io.Writer, b []byte, spans []Span) (n int, err error) {
	at := 0
	for _, s := range spans {
		if s.End > len(b) {
			break
		}
		if _, err := dst.Write(s.AppendMark(b[at:s.Start:s.Start])); err != nil {
			return n, err
		}
		at = s.End
		n++
	}
	_, err = dst.Write(b[at:])
	return n, err
}
