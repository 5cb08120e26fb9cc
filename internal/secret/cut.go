package secret

import "bytes"

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
