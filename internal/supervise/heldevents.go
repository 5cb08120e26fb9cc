package supervise

import (
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// maxHeld bounds how much text is held back, in bytes.
const maxHeld = 16 << 10

// hold keeps back what a program said line by line, as long as a secret may go on in
// the next line: a key is one over many. It reports whether e was taken care of.
func (l *eventLog) hold(e runtime.Event) bool {
	if len(l.held) > 0 && l.held[0].Kind != e.Kind {
		l.letGo()
	}
	if l.red == nil || e.Text.Empty() || e.Kind != runtime.EventWarning && e.Kind != runtime.EventText {
		return false
	}
	l.held = append(l.held, e)
	size, text := 0, ""
	for _, h := range l.held {
		size += h.Text.Len() + 1
		text += h.Text.Unshown() + "\n"
	}
	if size > maxHeld || !l.red.GoesOn(text[:len(text)-1]) {
		l.letGo()
	}
	return true
}

// letGo writes what was held back, redacted as the one text that it is.
func (l *eventLog) letGo() {
	held := l.held
	l.held = nil
	var lines []string
	for _, e := range held {
		lines = append(lines, e.Text.Unshown())
	}
	if len(held) > 1 {
		lines = l.red.Together(lines)
	}
	for i, e := range held {
		e.Text = untrusted.From(lines[i])
		l.write(e)
	}
}
