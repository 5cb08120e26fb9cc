package ui

import (
	"fmt"
	"time"

	"orchestrate/internal/ledger"
)

// The most lines that a summary has of each kind.
const (
	summaryJobs  = 20
	summaryNotes = 10
)

// Summary is what stays on the screen when the view has gone: a line for each job that
// failed or needs a person, the notes, and last, where it is seen, how the run stands.
func (l *Live) Summary(now time.Time, ascii bool) (all []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rows := l.rows(now)
	f := Frame{Now: now, ASCII: ascii}
	var failed []string
	for _, r := range rows {
		if r.rank == 1 {
			failed = append(failed, fmt.Sprintf("%s %s: %s", r.id, r.status, r.now))
		}
	}
	all = append(all, bounded(failed, summaryJobs, "jobs")...)
	var notes []string
	for _, r := range l.notes {
		notes = append(notes, r.text)
	}
	all = append(all, bounded(notes, summaryNotes, "notes")...)
	head := l.head(f, rows)
	all = append(all, head[:min(len(head), 3)]...)
	for i, text := range all {
		all[i] = f.signs(text)
	}
	return all
}

// bounded is lines, at most so many, and how many there are besides.
func bounded(lines []string, most int, what string) []string {
	if len(lines) <= most {
		return lines
	}
	return append(lines[:most:most], fmt.Sprintf("and %d %s more, see the report", len(lines)-most, what))
}

// Ended reports whether the newest record says that the run has, or that its engine leaves
// until the hosting session acts.
func (l *Live) Ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.phase == ledger.PhaseEnded || l.phase == ledger.PhaseAwaiting
}
