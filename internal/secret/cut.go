package secret

import (
	"bytes"
	"strings"
)

// SafeCut returns the largest position at which a text that goes on later can be
// cut so that its first part, redacted alone, shows nothing of a secret that the
// rest would complete. spans are those of b. It prefers the end of a line; a line
// longer than Window is cut Window bytes before its end.
func (r *Redactor) SafeCut(b []byte, spans []Span) int {
	if r == nil {
		return len(b)
	}
	cut := bytes.LastIndexByte(b, '\n') + 1
	if cut == 0 {
		cut = max(0, len(b)-r.window)
	}
	cut = beforeBlock(b, cut)
	if n := len(spans); n > 0 && skipBreak(b, spans[n-1].End) == len(b) {
		cut = min(cut, spans[n-1].From) // it may go on
	}
	for k := range r.scan.forms {
		cut = min(cut, r.scan.forms[k].begun(b, cut))
	}
	return Before(spans, cut)
}

// GoesOn reports whether a secret in a text, or the beginning of one, may go on in the
// line that follows it.
func (r *Redactor) GoesOn(text string) bool {
	b := append([]byte(text), '\n')
	return r.SafeCut(b, r.AppendSpans(nil, b)) < len(b)
}

// Together redacts lines that belong together, of which each is kept by itself.
func (r *Redactor) Together(lines []string) []string {
	b := []byte(strings.Join(lines, "\n"))
	spans := r.AppendSpans(nil, b)
	clean, at := make([]string, len(lines)), 0
	for i, line := range lines {
		end := at + len(line)
		var out []byte
		for _, s := range spans {
			if s.End > at && s.Start < end {
				out = s.AppendMark(append(out, b[at:max(at, s.Start)]...))
				at = min(s.End, end)
			}
		}
		clean[i] = string(append(out, b[at:end]...))
		at = end + 1
	}
	return clean
}

// beforeBlock moves a cut out of a block of base64 lines: a secret in it may go
// over their ends. A longer block than any encoded secret is divided.
func beforeBlock(b []byte, cut int) int {
	const longest = 2 * maxDecode
	i := cut
	for i > 0 && cut-i < longest {
		end := skipBreakBack(b, i)
		if end == i || !endsBlockLine(b, end) {
			break
		}
		i = runBack(b, end, longest, base64Set)
	}
	return i
}

// Before moves a cut to the front of the match that it would divide.
func Before(spans []Span, cut int) int {
	for k := len(spans) - 1; k >= 0; k-- {
		if spans[k].From < cut && cut < spans[k].End {
			cut = spans[k].From
		}
	}
	return cut
}

// begun returns the first position before cut from which b, to its end, is the
// beginning of the form; cut if there is none.
func (f *form) begun(b []byte, cut int) int {
	reach := len(f.text)
	if f.wraps {
		reach *= 2
	}
	for i := max(0, len(b)-reach); i < cut; i++ {
		if b[i] == f.text[0] && f.prefixed(b, i) {
			return i
		}
	}
	return cut
}

func (f *form) prefixed(b []byte, i int) bool {
	for k := 0; i < len(b) && k < len(f.text); k++ {
		if f.wraps {
			if i = skipBreak(b, i); i == len(b) {
				return true
			}
		}
		if b[i] != f.text[k] {
			return false
		}
		i++
	}
	return i == len(b)
}
