// Package spelling finds the word that somebody probably meant.
package spelling

import "strings"

// Nearest returns the allowed word that the found one is probably a slip of, or
// "" when none is close (at most one edit in three letters, ignoring case) or
// there is too much to compare.
func Nearest(found string, allowed []string) string {
	if len(found) > 200 || len(allowed) > 2000 {
		return ""
	}
	best, bestAt := "", 0
	for _, a := range allowed {
		d := Distance(strings.ToLower(found), strings.ToLower(a))
		if d > max(1, len(a)/3) {
			continue
		}
		if best == "" || d < bestAt {
			best, bestAt = a, d
		}
	}
	return best
}

// Distance counts insertions, deletions, replacements and swaps of neighbours.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > 20 || d < -20 {
		return len(x) + len(y)
	}
	var before []int
	prev := make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row := make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev = prev, row
	}
	return prev[len(y)]
}
