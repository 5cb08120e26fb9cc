// Package history keeps the one file that outlives runs: a JSON line for every
// job that finished, in plans/reports/orchestrate-history.jsonl. It is written
// after the verdict, never decides anything, and holds nothing of a rehearsal.
package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// Line is what is remembered of one job. RunID and JobID are its key: of two
// lines with the same key the later one counts.
type Line struct {
	SchemaVersion  int            `json:"schemaVersion"`
	RunID          string         `json:"runId"`
	JobID          string         `json:"jobId"`
	Runtime        string         `json:"runtime"`
	Model          string         `json:"model"`
	Agent          string         `json:"agent"`
	Task           string         `json:"task"`
	CapabilityTier string         `json:"capabilityTier"`
	RiskTier       string         `json:"riskTier"`
	DurationMs     int64          `json:"durationMs"`
	Status         ledger.Status  `json:"status"`
	Reason         runtime.Reason `json:"reason"`
	ExitCode       *int           `json:"exitCode"`
	TimedOut       bool           `json:"timedOut"`
	Attempts       int            `json:"attempts"`
	Verdict        string         `json:"verdict"` // of the run
	Usage          *runtime.Usage `json:"usage"`   // null = unknown
	At             time.Time      `json:"at"`
}

// Lines makes the lines of a run with the given verdict: one for each job that
// was dispatched and has settled. There is none in a run in which a stand-in
// took any job.
func Lines(runID, verdict string, jobs []ledger.JobStatus, at time.Time) []Line {
	var lines []Line
	for _, j := range jobs {
		if j.Rehearsal {
			return nil
		}
		if j.Attempts == 0 || !j.Status.Settled() {
			continue
		}
		lines = append(lines, Line{
			SchemaVersion: ledger.SchemaVersion, RunID: runID, JobID: j.ID,
			Runtime: j.Runtime, Model: j.Model, Agent: j.Agent, Task: j.Task,
			CapabilityTier: j.CapabilityTier, RiskTier: j.RiskTier,
			DurationMs: j.DurationMs, Status: j.Status, Reason: j.Reason,
			ExitCode: j.ExitCode, TimedOut: j.TimedOut, Attempts: j.Attempts,
			Verdict: verdict, Usage: j.Usage, At: at.UTC(),
		})
	}
	return lines
}

// Append adds lines to the history of the workspace at root, in one write that
// no other run's can fall into.
func Append(root string, lines []Line) error {
	if len(lines) == 0 {
		return nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return fmt.Errorf("history line of job %s: %w", l.JobID, err)
		}
	}
	name := Path(root)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := appendTo(f, buf.Bytes()); err != nil {
		return errors.Join(fmt.Errorf("history %s: %w", name, err), f.Close())
	}
	return f.Close()
}

// Path is the history file of the workspace at root.
func Path(root string) string {
	return filepath.Join(root, filepath.FromSlash(ledger.ReportsDir), ledger.HistoryFile)
}

// appendTo writes under the file's lock, which Close drops. A line that a dead
// writer left without its end is closed off first, so that it spoils no other.
func appendTo(f *os.File, lines []byte) error {
	if err := lock(f); err != nil {
		return err
	}
	size, err := f.Seek(0, 2)
	if err != nil {
		return err
	}
	if size > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			lines = append([]byte{'\n'}, lines...)
		}
	}
	_, err = f.Write(lines)
	return err
}
