package capture

import (
	"unicode/utf8"

	"orchestrate/internal/secret"
)

// A piece is a stretch of raw bytes and what of it goes to disk: the text itself,
// made valid UTF-8, or a mark.
type piece struct {
	start, end int
	mark       *secret.Span
}

// pieces appends to all how raw[from:to] is divided at its secrets.
func pieces(all []piece, spans []secret.Span, from, to int) []piece {
	for k := range spans {
		s := &spans[k]
		if s.End <= from {
			continue
		}
		if s.Start >= to {
			break
		}
		if s.Start > from {
			all = append(all, piece{start: from, end: s.Start})
		}
		all = append(all, piece{start: s.Start, end: s.End, mark: s})
		from = s.End
	}
	if from < to {
		all = append(all, piece{start: from, end: to})
	}
	return all
}

// appendPiece appends what goes to disk for p.
func appendPiece(dst, raw []byte, p piece) []byte {
	if p.mark != nil {
		return p.mark.AppendMark(dst)
	}
	return appendValid(dst, raw[p.start:p.end])
}

// size is the length of what goes to disk for p.
func (p piece) size(raw []byte) int {
	if p.mark != nil {
		return len(secret.Mark) + 1 + len(p.mark.Rule)
	}
	text := raw[p.start:p.end]
	if utf8.Valid(text) {
		return len(text)
	}
	size := 0
	for len(text) > 0 {
		n, out := width(text)
		size += out
		text = text[n:]
	}
	return size
}

// appendValid appends text with each byte that is no UTF-8 replaced by U+FFFD.
func appendValid(dst, text []byte) []byte {
	if utf8.Valid(text) {
		return append(dst, text...)
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		dst = utf8.AppendRune(dst, r)
		text = text[n:]
	}
	return dst
}

// wholeRunes moves a cut to the front of a character that it would divide or
// that has not come whole.
func wholeRunes(b []byte, cut int) int {
	for i := cut - 1; i >= max(0, cut-3); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:cut]) {
				return i
			}
			break
		}
	}
	return cut
}

// width is the length of what goes to disk for the character at the front of text.
func width(text []byte) (raw, out int) {
	r, n := utf8.DecodeRune(text)
	return n, utf8.RuneLen(r)
}

// headOf returns how many raw bytes of the pieces fit into limit bytes on disk.
func headOf(raw []byte, all []piece, limit int) int {
	end := 0
	if len(all) > 0 {
		end = all[0].start
	}
	for _, p := range all {
		size := p.size(raw)
		if size <= limit {
			limit -= size
			end = p.end
			continue
		}
		if p.mark == nil {
			end = fit(raw, p, limit)
		}
		return end
	}
	return end
}

// fit returns the end of the longest front of a text piece within limit.
func fit(raw []byte, p piece, limit int) int {
	i := p.start
	for i < p.end {
		n, out := width(raw[i:p.end])
		if out > limit {
			break
		}
		i, limit = i+n, limit-out
	}
	return i
}

// tailOf returns the first raw position from which the pieces fit into limit
// bytes on disk.
func tailOf(raw []byte, all []piece, limit int) int {
	if len(all) == 0 {
		return 0
	}
	start := all[len(all)-1].end
	for k := len(all) - 1; k >= 0; k-- {
		p := all[k]
		size := p.size(raw)
		if size <= limit {
			limit -= size
			start = p.start
			continue
		}
		if p.mark == nil {
			start = skip(raw, p, size-limit)
		}
		return start
	}
	return start
}

// skip returns the position in a text piece behind at least over bytes of its
// output.
func skip(raw []byte, p piece, over int) int {
	i := p.start
	for i < p.end && over > 0 {
		n, out := width(raw[i:p.end])
		i, over = i+n, over-out
	}
	return i
}
