package report

import (
	"io"
	"unicode/utf8"

	"orchestrate/internal/untrusted"
)

// visible hands a page on in parts, in which all that acts on a reader is made visible:
// escape sequences, bidi marks and their like, wherever in the page they got. Markup from
// outside is escaped by then.
type visible struct {
	to   io.Writer
	held []byte
}

// visiblePart is how much of a page is held at a time.
const visiblePart = 64 << 10

// Write implements io.Writer.
func (v *visible) Write(b []byte) (int, error) {
	for at := 0; at < len(b); {
		n := min(len(b)-at, visiblePart-len(v.held))
		v.held = append(v.held, b[at:at+n]...)
		at += n
		if len(v.held) == visiblePart {
			if err := v.pass(whole(v.held)); err != nil {
				return at, err
			}
		}
	}
	return len(b), nil
}

// rest hands on what is still held.
func (v *visible) rest() error { return v.pass(len(v.held)) }

func (v *visible) pass(n int) error {
	_, err := io.WriteString(v.to, untrusted.From(string(v.held[:n])).Block())
	v.held = append(v.held[:0], v.held[n:]...)
	return err
}

// whole is how much of a text can be handed on without cutting through its last character.
func whole(b []byte) int {
	for n := len(b) - 1; n > len(b)-utf8.UTFMax; n-- {
		if utf8.RuneStart(b[n]) {
			return n
		}
	}
	return len(b)
}
