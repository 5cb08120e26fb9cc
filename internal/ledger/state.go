package ledger

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// The phases of a run.
const (
	PhaseRunning     = "running"
	PhaseArbitrating = "arbitrating"
	PhaseAwaiting    = "awaiting" // parked: no engine is there, the hosting session is to act
	PhaseEnded       = "ended"
)

// State is what the journal says so far: state.json. Unknown is null or empty.
type State struct {
	SchemaVersion int            `json:"schemaVersion"`
	Seq           int64          `json:"seq"` // of the last record it includes
	RunID         string         `json:"runId"`
	SpecPath      string         `json:"specPath"`
	SpecDigest    string         `json:"specDigest"`
	Base          string         `json:"base"`
	Phase         string         `json:"phase"` // running | arbitrating | awaiting | ended
	StartedAt     time.Time      `json:"startedAt"`
	EndedAt       *time.Time     `json:"endedAt"`
	Verdict       string         `json:"verdict"`
	ExitStatus    *int           `json:"exitStatus"`
	Resumes       int            `json:"resumes"`   // how often another engine carried the run on
	Approvals     []Approval     `json:"approvals"` // what a person allowed, oldest first
	Paused        []Paused       `json:"paused"`    // runtimes that get no starts, as was last decided
	Budget        untrusted.Text `json:"budget"`    // why the budget holds back what has not begun, "" = it does not
	Stopping      untrusted.Text `json:"stopping"`  // that it was asked to stop and has not ended, "" = it was not
	Arbiter       *JobState      `json:"arbiter"`   // null while the arbiter was not asked
	Jobs          []JobState     `json:"jobs"`      // in spec order; last, so that encode can put one on each line
}

// JobState is where one job stands.
type JobState struct {
	ID        string         `json:"id"`
	Status    Status         `json:"status"`
	Reason    runtime.Reason `json:"reason"` // of a queued job: why its last attempt ended
	Evidence  untrusted.Text `json:"evidence"`
	Attempt   int            `json:"attempt"` // newest, 0 = never dispatched
	Runtime   string         `json:"runtime"`
	Model     string         `json:"model"`     // observed, else requested
	StartedAt *time.Time     `json:"startedAt"` // of the first attempt
	EndedAt   *time.Time     `json:"endedAt"`
	Earlier   []Earlier      `json:"earlier"` // attempts that another one followed, oldest first
}

// Earlier is an attempt of a job that another one followed, or will.
type Earlier struct {
	Attempt int            `json:"attempt"`
	Runtime string         `json:"runtime"`
	Model   string         `json:"model"` // observed, else requested
	Status  Status         `json:"status"`
	Reason  runtime.Reason `json:"reason"`
}

// Paused is a runtime that gets no starts for a time.
type Paused struct {
	Runtime string         `json:"runtime"`
	Reason  runtime.Reason `json:"reason"` // of the attempt that ran into it
	Until   *time.Time     `json:"until"`  // null = for the rest of the run
	Resets  *time.Time     `json:"resets"` // when its quota is back, as the runtime said; null = it did not
}

// clone copies what a later record could change. The times and the exit status
// are replaced, never written through, so their pointers may be shared.
func (s State) clone() State {
	s.Jobs, s.Paused = slices.Clone(s.Jobs), slices.Clone(s.Paused)
	if s.Arbiter != nil {
		a := *s.Arbiter
		s.Arbiter = &a
	}
	return s
}

// encode writes the state as JSON with one job on each line: readable, and one
// pass over the jobs whatever their number.
func (s State) encode(buf *bytes.Buffer) error {
	jobs := s.Jobs
	s.Jobs = []JobState{}
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return err
	}
	buf.Truncate(buf.Len() - len("]}\n"))
	for i := range jobs {
		if i > 0 {
			buf.WriteByte(',')
		}
		buf.WriteByte('\n')
		if err := enc.Encode(&jobs[i]); err != nil {
			return err
		}
		buf.Truncate(buf.Len() - 1)
	}
	buf.WriteString("\n]}\n")
	return nil
}
