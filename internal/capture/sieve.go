package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Sieve passes a stream on without some of its lines. Where such stood, one line
// counts them. Only lines that begin like a JSON object are ever looked at. It is not
// safe for concurrent use.
type Sieve struct {
	max   int
	keep  func([]byte)
	drop  func(line []byte) bool
	part  []byte // the beginning of a line to be looked at whose end has not come
	open  bool   // within a line that is passed on
	lines int    // left out since the last line that was passed on
	bytes int64
}

// NewSieve calls keep for what is passed on, whole lines as far as they have come
// whole; the bytes are only valid during the call. A line of more than limit bytes (0
// or less: 4 MiB) is passed on without a look.
func NewSieve(limit int, keep func([]byte), drop func(line []byte) bool) *Sieve {
	if limit <= 0 {
		limit = DefaultMaxLine
	}
	return &Sieve{max: limit, keep: keep, drop: drop}
}

// Write takes the next bytes of the stream. It never fails.
func (s *Sieve) Write(p []byte) (int, error) {
	kept := 0 // p up to here is passed on or counted
	for at := 0; at < len(p); {
		end, whole := len(p), false
		if k := bytes.IndexByte(p[at:], '\n'); k >= 0 {
			end, whole = at+k+1, true
		}
		looked := len(s.part) > 0 || !s.open && p[at] == '{'
		switch {
		case !looked:
			s.mark()
			s.open = !whole
		case whole && s.left(p[at:end]):
			s.pass(p[kept:at])
			kept = end
		case whole && len(s.part) == 0:
			s.mark()
		default:
			s.pass(p[kept:at])
			s.hold(p[at:end], whole)
			kept = end
		}
		at = end
	}
	s.pass(p[kept:])
	return len(p), nil
}

// Close passes on a last line that was not terminated, unless it is one to leave out:
// also one that is torn may be. It tells of what was left out at the end.
func (s *Sieve) Close() {
	switch {
	case len(s.part) == 0:
	case !json.Valid(s.part):
		s.leave(len(s.part))
	case !s.left(nil):
		s.hold(nil, true)
	}
	s.mark()
}

// left reports whether the line that ends with p is left out, and counts it then.
func (s *Sieve) left(p []byte) bool {
	line := p
	if len(s.part) > 0 {
		if len(s.part)+len(p) > s.max {
			return false
		}
		line = append(s.part, p...)
	}
	if len(line) > s.max || !s.drop(bytes.TrimRight(line, "\r\n")) {
		return false
	}
	s.leave(len(line))
	return true
}

func (s *Sieve) leave(size int) {
	s.lines++
	s.bytes += int64(size)
	s.part = nil
}

// hold keeps the beginning of a line until it is whole, or longer than is looked at.
func (s *Sieve) hold(p []byte, whole bool) {
	s.part = append(s.part, p...)
	if !whole && len(s.part) <= s.max {
		return
	}
	s.mark()
	s.pass(s.part)
	s.part, s.open = nil, !whole
}

func (s *Sieve) pass(p []byte) {
	if len(p) > 0 {
		s.keep(p)
	}
}

func (s *Sieve) mark() {
	if s.lines > 0 {
		s.keep(fmt.Appendf(nil, "[… %d lines with pieces of texts left out, %d bytes …]\n", s.lines, s.bytes))
	}
	s.lines, s.bytes = 0, 0
}
