package client

import (
	"fmt"
	"strings"
)

// meant suggests what was probably meant, or is "".
func meant(found string, among []string) string {
	if best := nearest(found, among); best != "" {
		return fmt.Sprintf("; the nearest is %q", best)
	}
	return ""
}

// nearest is the word that has the fewest changes to found, ignoring case; "" when
// there is none to choose from, or too much.
func nearest(found string, among []string) (best string) {
	if len(found) > 200 || len(among) > 2000 {
		return ""
	}
	least := -1
	for _, word := range among {
		if d := distance(strings.ToLower(found), strings.ToLower(word)); least < 0 || d < least {
			best, least = word, d
		}
	}
	return best
}

// distance counts insertions, deletions and replacements of bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
