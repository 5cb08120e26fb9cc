// Package untrusted holds text that came from a runtime, a tool or a file. Such
// text is data: it can be fenced, shown or stored, and decides nothing.
package untrusted

import (
	"fmt"
	"strings"
	"unicode"
)

// Text is data from outside.
type Text string

// Fence wraps the text as a block that it cannot close from inside: the fence is
// longer than any run of backticks in the text. The label names where it is from.
func (t Text) Fence(label string) string {
	fence := strings.Repeat("`", longestRun(string(t), '`')+3)
	body := strings.TrimRight(string(t), "\n")
	return fmt.Sprintf("%s%s\n%s\n%s\n", fence, oneLine(label), body, fence)
}

// Line shows the text on one line of at most limit runes, with everything that a
// terminal or a bidi-aware viewer would act on made visible. limit 0 = no limit.
func (t Text) Line(limit int) string {
	s := oneLine(string(t))
	if r := []rune(s); limit > 0 && len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

// Block shows the text with its line breaks and tabs and nothing else that acts.
func (t Text) Block() string { return visible(string(t), true) }

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
	var b strings.Builder
	for _, c := range s {
		switch {
		case c == '\n' && lines, c == '\t' && lines:
			b.WriteRune(c)
		case unicode.IsSpace(c):
			b.WriteByte(' ')
		case unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs), c == 0x3164, c == 0x115f, c == 0x1160:
			fmt.Fprintf(&b, "(U+%04X)", c)
		default:
			b.WriteRune(c) // of invalid UTF-8 the replacement character
		}
	}
	return b.String()
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
