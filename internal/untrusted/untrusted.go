// Package untrusted holds text that came from a runtime, a tool or a file. Such
// text is data: it can be fenced, shown or stored, and decides nothing.
package untrusted

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is data from outside. The zero value is the empty text. It has no conversion to
// a string: what it says is had by showing it (Line, Block, Span, Fence, and fmt in any
// verb: the harmless form), by storing it (JSON), or by name (Unshown), and
// internal/arch lists who may do the last.
type Text struct{ said string }

// From marks a string as data from outside.
func From(said string) Text { return Text{said} }

// Sprintf builds a text of words of ours and texts from outside, which go into it as
// they are.
func Sprintf(format string, args ...any) Text {
	plain := make([]any, len(args))
	for i, a := range args {
		if t, ok := a.(Text); ok {
			a = t.said
		}
		plain[i] = a
	}
	return Text{fmt.Sprintf(format, plain...)}
}

// Join puts texts into one, with sep between them.
func Join(texts []Text, sep string) Text {
	said := make([]string, len(texts))
	for i, t := range texts {
		said[i] = t.said
	}
	return Text{strings.Join(said, sep)}
}

// Empty reports whether there is no text.
func (t Text) Empty() bool { return t.said == "" }

// Blank reports whether there is nothing in it but white space.
func (t Text) Blank() bool { return strings.TrimSpace(t.said) == "" }

// Len is its length in bytes.
func (t Text) Len() int { return len(t.said) }

// Unshown is the text itself, for those who redact it, or who read a form out of it that
// was asked for. It is never for showing.
func (t Text) Unshown() string { return t.said }

// Through passes the text through f, as a redactor or a bound, and stays a text.
func (t Text) Through(f func(string) string) Text { return Text{f(t.said)} }

// Equal reports whether two texts say the same.
func (t Text) Equal(other Text) bool { return t == other }

// Digest is the SHA-256 of the text, hex.
func (t Text) Digest() string {
	sum := sha256.Sum256([]byte(t.said))
	return hex.EncodeToString(sum[:])
}

// MarshalText stores it in JSON as the string that it is.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.said), nil }

// UnmarshalText takes it from JSON.
func (t *Text) UnmarshalText(data []byte) error {
	t.said = string(data)
	return nil
}

// Format shows the text on one line whatever the verb, quoted for %q, so that no
// message can carry what it holds to a terminal.
func (t Text) Format(f fmt.State, verb rune) {
	s := t.Line(0)
	if verb == 'q' {
		s = strconv.Quote(s)
	}
	_, _ = io.WriteString(f, s) // fmt keeps what it is given, and has no errors
}

// Fence wraps the text as a block that it cannot close from inside: the fence is
// longer than any run of backticks in the text. The label names where it is from.
func (t Text) Fence(label string) string {
	fence := strings.Repeat("`", longestRun(t.said, '`')+3)
	body := strings.TrimRight(t.said, "\n")
	return fmt.Sprintf("%s%s\n%s\n%s\n", fence, oneLine(strings.ReplaceAll(label, "`", "'")), body, fence)
}

// Line shows the text on one line of at most limit runes, with everything that a
// terminal or a bidi-aware viewer would act on made visible. limit 0 = no limit.
func (t Text) Line(limit int) string {
	s := oneLine(t.said)
	if r := []rune(s); limit > 0 && len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

// Block shows the text with its line breaks and tabs and nothing else that acts.
func (t Text) Block() string  { return visible(t.said, true) }
func oneLine(s string) string { return strings.Join(strings.Fields(visible(s, false)), " ") }

// Span is the text on one line as a Markdown code span that it cannot end.
func (t Text) Span(limit int) string {
	s := t.Line(limit)
	tick := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return tick + s + tick
}

// visible replaces what a terminal or a browser would obey instead of showing:
// control and format characters (escape sequences, bidi marks, zero-width
// characters) and letters without a shape. Line breaks stay, or become spaces.
func visible(s string, lines bool) string {
	n := plain(s, lines)
	if n == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for {
		b.WriteString(s[:n])
		if s = s[n:]; s == "" {
			return b.String()
		}
		c, size := utf8.DecodeRuneInString(s)
		show(&b, c, lines)
		s = s[size:]
		n = plain(s, lines)
	}
}

// plain is how much of the beginning, in bytes, is shown as it is: printable ASCII, which
// is most of what there is.
func plain(s string, lines bool) int {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && (!lines || c != '\n' && c != '\t') {
			return i
		}
	}
	return len(s)
}

// show adds one character as it is shown.
func show(b *strings.Builder, c rune, lines bool) {
	switch {
	case lines && (c == '\n' || c == '\t'):
		b.WriteRune(c)
	case unicode.IsSpace(c):
		b.WriteByte(' ')
	case unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs), c == 0x3164, c == 0x115f, c == 0x1160:
		fmt.Fprintf(b, "(U+%04X)", c)
	default:
		b.WriteRune(c) // of invalid UTF-8 the replacement character
	}
}

func longestRun(s string, c rune) int {
	longest, run := 0, 0
	for _, r := range s {
		if r == c {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}
