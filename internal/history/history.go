// Package history keeps the one file that outlives runs: a JSON line for every
// job that finished, in plans/reports/orchestrate-history.jsonl. It is written
// after the verdict, never decides anything, and holds nothing of a rehearsal.
package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"orchestrate/internal/failpoint"
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
	Earlier        []Attempt      `json:"earlier"` // before the newest, oldest first
	Verdict        string         `json:"verdict"` // of the run
	Usage          *runtime.Usage `json:"usage"`   // null = unknown
	At             time.Time      `json:"at"`
}

// Attempt is one that another followed: a retry, or a fallback.
type Attempt struct {
	Runtime    string         `json:"runtime"`
	Model      string         `json:"model"`
	Status     ledger.Status  `json:"status"`
	Reason     runtime.Reason `json:"reason"`
	DurationMs int64          `json:"durationMs"`
	Usage      *runtime.Usage `json:"usage"` // null = unknown
}

func attempts(all []ledger.JobStatus) []Attempt {
	out := []Attempt{}
	for _, a := range all {
		out = append(out, Attempt{a.Runtime, a.Model, a.Status, a.Reason, a.DurationMs, a.Usage})
	}
	return out
}

// Lines makes the lines of a run with the given verdict: one for each job that
// was dispatched and has settled. earlier are its attempts before the newest, by job.
// There is no line in a run in which a stand-in took any job.
func Lines(runID, verdict string, jobs []ledger.JobStatus, earlier map[string][]ledger.JobStatus, at time.Time) []Line {
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
			ExitCode: j.ExitCode, TimedOut: j.TimedOut, Attempts: j.Attempts, Earlier: attempts(earlier[j.ID]),
			Verdict: verdict, Usage: j.Usage, At: at.UTC(),
		})
	}
	return lines
}

// Append adds lines to the history of the workspace at root, in one write that
// no other run's can fall into.
func Append(root string, lines []Line) error {
	return add(root, lines, func(*os.File, []Line) ([]Line, error) { return lines, nil })
}

// AppendOnce is Append without the lines that the history has already: of a run
// that died after it wrote them, or was resumed and changed nothing.
func AppendOnce(root string, lines []Line) error {
	return add(root, lines, missing)
}

// add writes those lines that choose leaves over, which sees the history as it is
// when it is ours.
func add(root string, lines []Line, choose func(*os.File, []Line) ([]Line, error)) error {
	if len(lines) == 0 {
		return nil
	}
	name := Path(root)
	f, err := open(name, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	err = lock(f, patience) // until it is closed
	if err == nil {
		failpoint.Hit(failpoint.HistoryBefore)
		lines, err = choose(f, lines)
	}
	if err == nil {
		err = appendTo(f, lines)
	}
	if err != nil {
		return errors.Join(wrong(name, err), f.Close())
	}
	return f.Close()
}

// key is what makes two lines say the same of one job.
type key struct {
	run, job string
	attempts int
	status   ledger.Status
	verdict  string
}

func (l Line) key() key { return key{l.RunID, l.JobID, l.Attempts, l.Status, l.Verdict} }

// missing are those lines that the file does not have.
func missing(f *os.File, lines []Line) ([]Line, error) {
	runs := map[string]bool{}
	for _, l := range lines {
		runs[l.RunID] = true
	}
	have := map[key]bool{}
	in := bufio.NewReader(f)
	for {
		data, err := in.ReadBytes('\n')
		var l Line
		if json.Unmarshal(data, &l) == nil && runs[l.RunID] { // what is no line was torn
			have[l.key()] = true
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return have[l.key()] }), nil
}

// Path is the history file of the workspace at root.
func Path(root string) string {
	return filepath.Join(root, filepath.FromSlash(ledger.ReportsDir), ledger.HistoryFile)
}

// appendTo writes lines, all or none. A line that a dead writer left without its
// end is closed off first, so that it spoils no other.
func appendTo(f *os.File, lines []Line) error {
	if len(lines) == 0 {
		return nil
	}
	size, torn, err := end(f)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	if torn {
		buf.WriteByte('\n')
	}
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return fmt.Errorf("line of job %s: %w", l.JobID, err)
		}
	}
	if _, err := f.Write(buf.Bytes()); err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	failpoint.Hit(failpoint.HistoryWritten)
	return f.Sync()
}

// end is the file's size, and whether its last line lacks its end.
func end(f *os.File) (size int64, torn bool, err error) {
	if size, err = f.Seek(0, io.SeekEnd); err != nil || size == 0 {
		return size, false, err
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, size-1)
	return size, last[0] != '\n', err
}
