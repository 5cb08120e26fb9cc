package engine

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"orchestrate/internal/ledger"
	"orchestrate/internal/workspace"
)

// keepDiffstat leaves beside a job's patch how much of each file it changes.
func (r *run) keepDiffstat(job string, files []workspace.Change) error {
	if len(files) == 0 {
		return nil
	}
	return r.led.WriteFile(ledger.JobPath(job, ledger.DiffstatFile), r.redact.Bytes([]byte(diffstat(files))))
}

// sumLine ends a diffstat.
const sumLine = "files: %d, lines added: %d, lines deleted: %d, binary files: %d"

// diffstat is a line for each changed file (how, lines added and deleted, its name) and
// their sum.
func diffstat(files []workspace.Change) string {
	var b strings.Builder
	for _, c := range files {
		lines := fmt.Sprintf("%7s %7s", fmt.Sprintf("+%d", c.Added), fmt.Sprintf("-%d", c.Deleted))
		if c.Binary {
			lines = fmt.Sprintf("%15s", "binary")
		}
		fmt.Fprintf(&b, "%s %s  %s\n", c.Status, lines, shownName(c.Path))
	}
	added, deleted, binary := linesOf(files)
	fmt.Fprintf(&b, sumLine+"\n", len(files), added, deleted, binary)
	return b.String()
}

// linesOf counts the changed lines, and the files of which git counts none.
func linesOf(files []workspace.Change) (added, deleted, binary int) {
	for _, c := range files {
		added, deleted = added+c.Added, deleted+c.Deleted
		if c.Binary {
			binary++
		}
	}
	return added, deleted, binary
}

// shownName is a file's name as a line of text can hold it: quoted where it has anything
// that a terminal or a reader would take for something else.
func shownName(name string) string {
	odd := func(c rune) bool { return c == '"' || c == '\\' || c == unicode.ReplacementChar || !unicode.IsPrint(c) }
	if strings.IndexFunc(name, odd) >= 0 || strings.TrimSpace(name) != name {
		return strconv.Quote(name)
	}
	return name
}
