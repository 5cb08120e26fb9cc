package capture

import "bytes"

// DefaultMaxLine is the longest line handed to a decoder, in bytes.
const DefaultMaxLine = 4 << 20

// Lines frames a byte stream into lines. It is not safe for concurrent use.
type Lines struct {
	max      int
	line     func([]byte)
	oversize func(n int64)
	part     []byte // the beginning of a line whose end has not come
	skipped  int64  // bytes of the current line when it is too long
}

// NewLines calls line for every line, without its \n or \r\n; the bytes are only
// valid during the call. A line of more than limit bytes (0 or less: 4 MiB) is dropped and
// its length told to oversize, when it has ended.
func NewLines(limit int, line func([]byte), oversize func(n int64)) *Lines {
	if limit <= 0 {
		limit = DefaultMaxLine
	}
	return &Lines{max: limit, line: line, oversize: oversize}
}

// Write takes the next bytes of the stream. It never fails.
func (l *Lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := bytes.IndexByte(p, '\n')
		if k < 0 {
			l.keep(p)
			break
		}
		l.end(p[:k])
		p = p[k+1:]
	}
	return n, nil
}

// Close delivers a last line that was not terminated.
func (l *Lines) Close() {
	if len(l.part) > 0 || l.skipped > 0 {
		l.end(nil)
	}
	l.part = nil
}

// keep holds the beginning of a line, or counts it when it is too long. One byte
// more than the limit is held, for it may be the \r.
func (l *Lines) keep(p []byte) {
	if l.skipped == 0 && len(l.part)+len(p) <= l.max+1 {
		l.part = append(l.part, p...)
		return
	}
	l.skipped += int64(len(l.part) + len(p))
	l.part = nil
}

// end delivers the line that ends with p.
func (l *Lines) end(p []byte) {
	if len(l.part) > 0 || l.skipped > 0 {
		l.keep(p)
		p = l.part
	}
	switch p = bytes.TrimSuffix(p, []byte{'\r'}); {
	case l.skipped > 0:
		l.oversize(l.skipped)
	case len(p) > l.max:
		l.oversize(int64(len(p)))
	default:
		l.line(p)
	}
	l.skipped = 0
	l.part = l.part[:0]
	if cap(l.part) > 1<<20 {
		l.part = nil // one long line does not hold its memory for ever
	}
}
