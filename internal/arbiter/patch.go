package arbiter

import (
	"fmt"
	"strings"
)

// summary is a patch in about n bytes: how much of each file it changes, then the first
// lines of each file's change, and where the whole is.
func summary(diffstat, patch string, missing int64, n int, where string) string {
	var w strings.Builder
	w.WriteString(lead(strings.TrimRight(diffstat, "\n"), n/3))
	fmt.Fprintf(&w, "\n[… the whole patch is in %s; of each file the first lines …]\n", where)
	files := perFile(patch)
	needs := make([]int, len(files))
	for i, f := range files {
		needs[i] = len(f)
	}
	unseen := 0
	for i, room := range shares(needs, max(n-w.Len(), 0)) {
		if room < min(shortest, needs[i]) {
			unseen++
			continue
		}
		w.WriteString(lead(files[i], room))
	}
	if unseen > 0 {
		fmt.Fprintf(&w, "[… of %d files nothing is shown …]\n", unseen)
	}
	if missing > 0 {
		fmt.Fprintf(&w, "[… %d bytes more in the whole patch …]\n", missing)
	}
	return w.String()
}

// perFile parts a patch at the heads of its files.
func perFile(patch string) (files []string) {
	const head = "\ndiff --git "
	for {
		i := strings.Index(patch, head)
		if i < 0 {
			return append(files, patch)
		}
		files, patch = append(files, patch[:i+1]), patch[i+1:]
	}
}

// lead is the first lines of a text in about n bytes, and how many are left out.
func lead(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	kept := wholeRunes(text[:min(n, len(text))], true)
	if i := strings.LastIndexByte(kept, '\n'); i > 0 {
		kept = kept[:i]
	}
	left := strings.Count(strings.TrimRight(text[len(kept):], "\n"), "\n")
	return fmt.Sprintf("%s\n[… %d lines more …]\n", kept, max(left, 1))
}
