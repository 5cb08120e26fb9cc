package engine

import (
	"slices"
	"strings"
)

// environmentText names the variables of an attempt: those of ours that it gets as they
// are, those that are kept from it, and those that it is given.
func environmentText(ours, its []string) string {
	var lines []string
	names := map[string]bool{}
	for _, entry := range its {
		name, _, _ := strings.Cut(entry, "=")
		names[name] = true
		if slices.Contains(ours, entry) {
			lines = append(lines, "passed "+name)
		} else {
			lines = append(lines, "set "+name)
		}
	}
	for _, entry := range ours {
		if name, _, _ := strings.Cut(entry, "="); name != "" && !names[name] {
			lines = append(lines, "withheld "+name)
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n") + "\n"
}
