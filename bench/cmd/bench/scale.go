//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orchestrate/internal/ledger"
)

// scaled is what is known of one large run.
type scaled struct {
	run, resume, status cost
	early, late         float64 // microseconds per transition
	journal, state      float64 // MB
}

// scale measures one run of very many jobs, and of a tenth of them, and afterwards
// what it takes to read that run again.
func scale(b *bench) ([]table, error) {
	var tables []table
	for _, place := range b.places {
		sizes := []int{b.scale / 10, b.scale}
		all := make([][]scaled, len(sizes))
		for round := range b.turns {
			for k := range sizes {
				i := (k + round) % len(sizes)
				s, err := b.scaleOnce(place, sizes[i], round)
				if err != nil {
					return nil, err
				}
				all[i] = append(all[i], s)
			}
		}
		tables = append(tables, scaleTable(sizes, all, fileSystem(place)))
	}
	return tables, nil
}

func (b *bench) scaleOnce(place string, jobs, round int) (s scaled, err error) {
	dir, err := os.MkdirTemp(place, fmt.Sprintf("r%d-", round))
	if err != nil {
		return s, err
	}
	if s.run, err = b.in(dir, b.orchestrate("", flat(jobs), 8)); err != nil {
		return s, err
	}
	run, err := runDir(dir)
	if err != nil {
		return s, err
	}
	if err := s.readRun(run); err != nil {
		return s, err
	}
	program, id := filepath.Join(b.bin, "orchestrate"), strings.TrimPrefix(filepath.Base(run), "orchestrate-")
	if s.resume, err = b.in(dir, command{argv: []string{program, "resume", id}, run: true}); err != nil {
		return s, err
	}
	s.status, err = b.in(dir, command{argv: []string{program, "status", id}})
	return s, err
}

// readRun takes the sizes and the pace of a run from its directory.
func (s *scaled) readRun(run string) error {
	journal, err := os.Open(filepath.Join(run, ledger.JournalFile))
	if err != nil {
		return err
	}
	defer journal.Close()
	var moves []time.Time
	lines := bufio.NewScanner(journal)
	for lines.Buffer(nil, 64<<20); lines.Scan(); {
		var r struct {
			At   time.Time
			Kind ledger.RecordKind
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("%s: %w", journal.Name(), err)
		}
		if r.Kind == ledger.KindIntent || r.Kind == ledger.KindStarted || r.Kind == ledger.KindSettled {
			moves = append(moves, r.At)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	s.early, s.late = pace(moves)
	if s.journal, err = megabytes(journal.Name()); err != nil {
		return err
	}
	s.state, err = megabytes(filepath.Join(run, ledger.StateFile))
	return err
}

// pace is the time from one transition to the next, in microseconds, in the first
// and in the last tenth of a run.
func pace(moves []time.Time) (early, late float64) {
	n := len(moves) / 10
	if n == 0 {
		return 0, 0
	}
	each := func(from, to time.Time) float64 { return to.Sub(from).Seconds() * 1e6 / float64(n) }
	last := len(moves) - 1
	return each(moves[0], moves[n]), each(moves[last-n], moves[last])
}

func megabytes(path string) (float64, error) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return float64(st.Size()) / 1e6, nil
}

func scaleTable(sizes []int, all [][]scaled, where string) table {
	t := table{
		title: fmt.Sprintf("One run of %d jobs of %s, 8 at a time, on %s", sizes[len(sizes)-1], aProgram, where),
		note: "A transition is an intent, a start or a settlement of a job; the time from one to the next is taken from the journal, so it is wall time with eight jobs side by side. " +
			"`resume` replays the finished run, holds it against its files and finds nothing to do.",
		head: []string{"figure"},
	}
	for _, n := range sizes {
		t.head = append(t.head, fmt.Sprint(n, " jobs"))
	}
	figures := []struct {
		name, format string
		of           func(s scaled) float64
	}{
		{"wall s", "%.1f", func(s scaled) float64 { return s.run.Wall }},
		{"CPU s, whole tree", "%.1f", func(s scaled) float64 { return s.run.CPU }},
		{"CPU s, engine's own process", "%.1f", func(s scaled) float64 { return s.run.Engine.Own }},
		{"CPU s, viewer", "%.2f", func(s scaled) float64 { return s.run.viewer() }},
		{"engine MiB", "%.0f", func(s scaled) float64 { return s.run.Engine.RSS }},
		{"viewer MiB", "%.0f", func(s scaled) float64 { return s.run.Command.RSS }},
		{"us per transition, first tenth", "%.0f", func(s scaled) float64 { return s.early }},
		{"us per transition, last tenth", "%.0f", func(s scaled) float64 { return s.late }},
		{"last tenth x first", "%.2f", func(s scaled) float64 { return s.late / s.early }},
		{"journal.jsonl MB", "%.1f", func(s scaled) float64 { return s.journal }},
		{"state.json MB", "%.2f", func(s scaled) float64 { return s.state }},
		{"resume, nothing to do: wall s", "%.2f", func(s scaled) float64 { return s.resume.Wall }},
		{"resume: CPU s", "%.2f", func(s scaled) float64 { return s.resume.CPU }},
		{"resume: engine MiB", "%.0f", func(s scaled) float64 { return s.resume.Engine.RSS }},
		{"status: wall s", "%.2f", func(s scaled) float64 { return s.status.Wall }},
		{"status: CPU s", "%.2f", func(s scaled) float64 { return s.status.CPU }},
		{"status: MiB", "%.0f", func(s scaled) float64 { return s.status.Command.RSS }},
	}
	for _, f := range figures {
		cells := []string{f.name}
		for _, rounds := range all {
			var values []float64
			for _, s := range rounds {
				values = append(values, f.of(s))
			}
			cells = append(cells, number(f.format, middle(values)))
		}
		t.add(cells...)
	}
	return t
}
