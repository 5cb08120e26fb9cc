package spec

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"orchestrate/internal/spelling"
)

// maxQuoted bounds how much of a found value a message repeats, in bytes.
const maxQuoted = 60

// quote shows a value on one line, cut when it is long.
func quote(s string) string {
	if len(s) > maxQuoted {
		cut := maxQuoted
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		return strconv.Quote(s[:cut]) + "…"
	}
	return strconv.Quote(s)
}

// list joins alternatives for a person.
func list(words []string) string { return strings.Join(words, ", ") }

// meant renders a suggestion, or nothing.
func meant(found string, allowed []string) string {
	if s := spelling.Nearest(found, allowed); s != "" {
		return fmt.Sprintf("; did you mean %q?", s)
	}
	return ""
}
