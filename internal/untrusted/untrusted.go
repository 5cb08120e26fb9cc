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
func (t Text) Block() string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return inert(r)
	}, string(t))
}

func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		return inert(r)
	}, s)
	return strings.TrimSpace(s)
}

// inert replaces control and format characters (escape sequences, bidi marks,
// zero-width characters) by a visible stand-in.
func inert(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
		return '\uFFFD'
	}
	return r
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
