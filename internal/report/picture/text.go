package picture

import (
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"orchestrate/internal/untrusted"
)

// Sizes of text, in CSS pixels, and what a character of it takes. Ids are set in a
// fixed-width face, so that what fits can be told without a font; of other text the
// width is a careful guess.
const (
	idChar    = 7.3 // 12 px
	plainChar = 6.4 // 11 px
)

// inert is text as it may stand in markup, an attribute's value too: on one line,
// nothing that acts on a reader's screen, nothing that a parser takes for markup.
func inert(s string) string { return html.EscapeString(untrusted.From(s).Line(300)) }

// fit shortens text to a width, in the middle, where ids differ least.
func fit(s string, width, char float64) string {
	room := int(width / char)
	s = untrusted.From(s).Line(0)
	if cells(s) <= room {
		return html.EscapeString(s)
	}
	r := []rune(s)
	tail := min(max(room/3, 1), len(r))
	end := string(r[len(r)-tail:])
	for cells(end) > room/2 && end != "" {
		end = end[len(string([]rune(end)[:1])):]
	}
	head := r[:min(len(r), max(room, 1))]
	for len(head) > 1 && cells(string(head))+cells(end)+1 > room {
		head = head[:len(head)-1]
	}
	return html.EscapeString(string(head) + "…" + end)
}

// cells is how many characters' width a text takes: those of East Asian scripts and
// pictures take two.
func cells(s string) int {
	if utf8.RuneCountInString(s) == len(s) {
		return len(s)
	}
	n := 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r >= 0x1100:
			n += 2
		default:
			n++
		}
	}
	return n
}

// boxWidth is the one width of all boxes: that of the longest text, within reason.
func boxWidth(nodes []Node) int {
	widest := 0.0
	for _, n := range nodes {
		widest = max(widest, float64(cells(untrusted.From(n.ID).Line(0)))*idChar,
			min(float64(cells(untrusted.From(n.Detail).Line(0)))*plainChar, 170))
	}
	return min(max(int(widest)+textAt+10, 116), 216)
}

// word keeps what may be part of a class name.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(s))
}

// link opens and closes what leads to a fragment of the page, and nowhere else.
func link(href, attributes string) (open, end string) {
	if !strings.HasPrefix(href, "#") {
		return "<g " + attributes + ">", "</g>"
	}
	return fmt.Sprintf(`<a href="%s" %s>`, html.EscapeString(untrusted.From(href).Line(0)), attributes), "</a>"
}
