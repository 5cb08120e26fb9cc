package client

import (
	"fmt"
	"strings"

	"orchestrate/internal/spelling"
)

// listed is how many words are shown where none is near.
const listed = 5

// meant names the word that was probably meant, or some of those there are.
func meant(found string, among []string) string {
	if len(among) == 0 || len(found) > 200 || len(among) > 2000 {
		return ""
	}
	if best := nearest(found, among); best != "" {
		return fmt.Sprintf("; the nearest is %q", best)
	}
	more := ""
	if len(among) > listed {
		more = fmt.Sprintf(" and %d more", len(among)-listed)
	}
	return fmt.Sprintf("; it has %s%s", strings.Join(among[:min(listed, len(among))], ", "), more)
}

// nearest is the word that takes the fewest changes, ignoring case and what stands
// before a slash; "" when more than half of it would have to change.
func nearest(found string, among []string) (best string) {
	least := len(found)/2 + 1
	for _, word := range among {
		lower := strings.ToLower(word)
		d := min(spelling.Distance(strings.ToLower(found), lower), spelling.Distance(strings.ToLower(found), lower[strings.LastIndex(lower, "/")+1:]))
		if d < least {
			best, least = word, d
		}
	}
	return best
}
