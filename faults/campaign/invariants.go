//go:build linux

package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/history"
	"orchestrate/internal/ledger"
	"orchestrate/internal/ledger/ledgertest"
	"orchestrate/internal/runtime"
	"orchestrate/internal/supervise"
)

// judgeJournal holds the records of a run that has ended against its jobs: each
// has succeeded exactly once, and none that had was asked for again.
func judgeJournal(all []ledger.Record, jobs []string) (broken []Fault) {
	successes := map[string]int{}
	for _, r := range all {
		switch {
		case r.Kind == ledger.KindSettled && r.Status == ledger.Success:
			successes[r.Job]++
		case r.Kind == ledger.KindRequeued && successes[r.Job] > 0 && r.Job != ledger.ArbiterJob:
			broken = append(broken, Fault{Lost, fmt.Sprintf("job %s had succeeded and was queued again: %s", r.Job, r.Text)})
		}
	}
	for _, job := range jobs {
		switch n := successes[job]; {
		case n == 0:
			broken = append(broken, Fault{Lost, fmt.Sprintf("job %s has no success in the journal", job)})
		case n > 1:
			broken = append(broken, Fault{Doubled, fmt.Sprintf("job %s has succeeded %d times in the journal", job, n)})
		}
	}
	if len(all) == 0 || all[len(all)-1].Kind != ledger.KindRunEnded {
		broken = append(broken, Fault{Lost, "the journal does not end with run_ended"})
	}
	return broken
}

// judgeAdoption demands that what ran on, while only the engine died, was taken
// over: the attempt's one program is the one that ran then, by pid and start time,
// and the attempt ended as any other, not interrupted.
func judgeAdoption(all []ledger.Record, ran []Held) (broken []Fault) {
	for _, h := range ran {
		var started, ended []ledger.Record
		for _, r := range all {
			switch {
			case r.Job != h.Job || r.Attempt != h.Attempt:
			case r.Kind == ledger.KindEvent && r.Event.Kind == runtime.EventStarted:
				started = append(started, r)
			case r.Kind == ledger.KindSettled || r.Kind == ledger.KindAttemptEnded:
				ended = append(ended, r)
			}
		}
		if why := notAdopted(h, started, ended); why != "" {
			broken = append(broken, Fault{Lost, fmt.Sprintf("attempt %d of job %s ran on when the engine was killed, and was not adopted: %s", h.Attempt, h.Job, why)})
		}
	}
	return broken
}

func notAdopted(h Held, started, ended []ledger.Record) string {
	switch {
	case len(started) != 1:
		return fmt.Sprintf("the journal says %d times that it started", len(started))
	case started[0].Event.PID != h.Program.PID || started[0].Event.StartTime != h.Program.StartTime:
		return fmt.Sprintf("process %d of start time %d ran, the journal names %d of %d", h.Program.PID, h.Program.StartTime, started[0].Event.PID, started[0].Event.StartTime)
	case len(ended) != 1:
		return fmt.Sprintf("the journal says %d times that it ended", len(ended))
	case ended[0].Settled.Status == ledger.Interrupted:
		return fmt.Sprintf("it was interrupted: %s", ended[0].Settled.ReasonEvidence)
	}
	return ""
}

// judgeFiles holds all that a run left against the published forms.
func judgeFiles(workspace, dir string, jobs []string, historic bool) (broken []Fault) {
	for _, err := range ledgertest.ValidateRun(dir) {
		broken = append(broken, Fault{Torn, err.Error()})
	}
	history := filepath.Join(workspace, ledger.ReportsDir, ledger.HistoryFile)
	data, err := os.ReadFile(history)
	if errors.Is(err, fs.ErrNotExist) && !historic {
		return broken
	}
	if err != nil {
		return append(broken, Fault{Lost, err.Error()})
	}
	if !strings.HasSuffix(string(data), "\n") {
		broken = append(broken, Fault{Torn, "the last line of the history is not whole"})
	}
	return append(broken, judgeHistory(strings.TrimPrefix(filepath.Base(dir), "orchestrate-"), data, jobs)...)
}

// judgeHistory demands that the last line of each job is its success, and that no
// line says again what one before it said: a run that was judged again supersedes.
func judgeHistory(id string, data []byte, jobs []string) (broken []Fault) {
	type key struct {
		job, verdict string
		status       ledger.Status
		attempts     int
	}
	seen, last := map[key]bool{}, map[string]key{}
	for line := range bytes.Lines(data) {
		var l history.Line
		if json.Unmarshal(line, &l) != nil || l.RunID != id {
			continue // that a line is whole is held against the schema
		}
		k := key{l.JobID, l.Verdict, l.Status, l.Attempts}
		if seen[k] {
			broken = append(broken, Fault{Doubled, fmt.Sprintf("the history says twice: %+v", k)})
		}
		seen[k], last[l.JobID] = true, k
	}
	for _, job := range jobs {
		if last[job].status != ledger.Success {
			broken = append(broken, Fault{Lost, fmt.Sprintf("the history says %q of job %s", last[job].status, job)})
		}
	}
	return broken
}

// judgeCgroups demands that no control group of the run's attempts is left.
func judgeCgroups(held []Held) (broken []Fault) {
	groups := map[string]bool{}
	for _, h := range held {
		groups[h.Cgroup] = h.Cgroup != ""
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		if _, err := os.Stat(group); groups[group] && err == nil {
			broken = append(broken, Fault{Orphan, "a control group is left: " + group})
		}
	}
	return broken
}

// judgePrivate demands that no private folder of the run's attempts is left, nor the
// folder that holds them: an attempt that was cut off may have had one that no lock names.
func judgePrivate(held []Held) (broken []Fault) {
	places := map[string]bool{}
	for _, h := range held {
		if h.Private != "" {
			places[filepath.Dir(h.Private)] = true
		}
	}
	for _, place := range slices.Sorted(maps.Keys(places)) {
		if _, err := os.Lstat(place); !errors.Is(err, fs.ErrNotExist) {
			broken = append(broken, Fault{Orphan, fmt.Sprintf("private folders are left in %s: %v", place, err)})
		}
	}
	return broken
}

// judgeBoxes demands of a run whose programs are all boxed, or none, that each that ran
// to its end really was held so, whatever engine saw it end.
func judgeBoxes(held []Held, boxed bool) (broken []Fault) {
	for _, h := range held {
		if h.Mark != "" && h.Boxed != boxed {
			broken = append(broken, Fault{Lost, fmt.Sprintf("%s: it was to be boxed: %v, and the run's sandbox: %v", h.dir, h.Boxed, boxed)})
		}
		data, err := os.ReadFile(filepath.Join(h.dir, ledger.ExitFile))
		if errors.Is(err, fs.ErrNotExist) { // its supervisor was killed
			continue
		}
		var exit supervise.Exit
		if err := errors.Join(err, json.Unmarshal(data, &exit)); err != nil {
			broken = append(broken, Fault{Torn, err.Error()})
			continue
		}
		if exit.PID > 0 && (exit.Sandbox != nil) != boxed {
			broken = append(broken, Fault{Lost, fmt.Sprintf("%s: the kernel held its program by %v, and the run's sandbox: %v", h.dir, exit.Sandbox, boxed)})
		}
	}
	return broken
}
