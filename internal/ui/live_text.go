package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"orchestrate/internal/figure"
)

// width is how many columns a text takes. Terminals differ over some characters; the
// wider opinion counts, so that a line never goes beyond its end.
func width(s string) int { return max(ansi.StringWidth(s), ansi.StringWidthWc(s)) }

// cutOff stands for what there was no room for.
const cutOff = "…"

// cut is s in at most so many columns.
func cut(s string, columns int) string {
	if columns <= 0 {
		return ""
	}
	if width(s) <= columns {
		return s
	}
	for n := columns; n > 0; n-- {
		if t := ansi.Truncate(s, n, cutOff); width(t) <= columns {
			return t
		}
	}
	return ""
}

// middle is cut with both ends of s kept: ids often differ in the last characters only.
func middle(s string, columns int) string {
	all := width(s)
	if all <= columns || columns < 5 {
		return cut(s, columns)
	}
	for tail := (columns - 1) / 2; tail > 0; tail-- {
		end := ansi.TruncateLeft(s, all-tail, "")
		if t := cut(s, columns-width(end)) + end; width(t) <= columns {
			return t
		}
	}
	return cut(s, columns)
}

// cell is s in exactly so many columns.
func cell(s string, columns int) string {
	s = cut(s, columns)
	return s + strings.Repeat(" ", max(0, columns-width(s)))
}

// right is cell with the text at its right end.
func right(s string, columns int) string {
	s = cut(s, columns)
	return strings.Repeat(" ", max(0, columns-width(s))) + s
}

// span is how long something that goes on has taken, in steps of a second.
func span(d time.Duration) string { return figure.Took(d.Truncate(time.Second)) }

// clock is a time of day, with the day where that is another one.
func clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04")
}

// list names ids, at most so many.
func list(ids []string, most int) string {
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}
