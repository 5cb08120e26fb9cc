package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// width is how many columns a text takes. Terminals differ over some characters; the
// wider opinion counts, so that a line never goes beyond its end.
func width(s string) int { return max(ansi.StringWidth(s), ansi.StringWidthWc(s)) }

// cut is s in at most so many columns.
func cut(s string, columns int) string {
	if columns <= 0 {
		return ""
	}
	if width(s) <= columns {
		return s
	}
	for n := columns; n > 0; n-- {
		if t := ansi.Truncate(s, n, "…"); width(t) <= columns {
			return t
		}
	}
	return ""
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

// span is a duration in at most six characters, in steps of a second.
func span(d time.Duration) string {
	d = max(0, d).Truncate(time.Second)
	s := int(d / time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", s)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
}

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
