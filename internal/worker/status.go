package worker

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/exec"
	"orchestrate/internal/untrusted"
)

// Status is a task's status.json. Null is unknown, or none.
type Status struct {
	SchemaVersion int             `json:"schema_version"`
	TaskID        string          `json:"task_id"`
	Adapter       *string         `json:"adapter"` // the runtime that had it, ledger.Custom = a command; null = nobody yet, or the engine itself
	Model         *string         `json:"model"`   // observed, else requested
	State         ledger.Status   `json:"state"`
	ExitCode      *int            `json:"exit_code"` // as ExitCode has it; null until it has ended
	Reason        *runtime.Reason `json:"reason"`
	Evidence      *untrusted.Text `json:"evidence"`
	Next          *string         `json:"next"` // what to do about it
	StartedAt     *time.Time      `json:"started_at"`
	DurationS     *float64        `json:"duration_s"`
	SessionID     *string         `json:"session_id"`
	Resumed       bool            `json:"resumed"`   // it went on with a session
	ResumeOf      *string         `json:"resume_of"` // the task whose session that is; null = it began one, or only the id was given
	Usage         *Usage          `json:"usage"`
	Artifacts     []Artifact      `json:"artifacts"`
	Attempts      int             `json:"attempts"` // in this call
	Call          string          `json:"call"`     // id of the run that it was done in
	Worktree      *string         `json:"worktree"` // absolute; null = it worked in the checkout
	Patch         *string         `json:"patch"`    // absolute path of what it changed there; null = nothing
	Item          json.RawMessage `json:"item"`     // of a list, that it was for
}

// Usage is what a runtime said that a task used; null = it did not say.
type Usage struct {
	InputTokens  *int64   `json:"input_tokens"`
	OutputTokens *int64   `json:"output_tokens"`
	CostUSD      *float64 `json:"cost_usd"`
}

// Artifact is a file that a task left.
type Artifact struct {
	Path   string `json:"path"` // from the task's folder, artifacts/…; of a writer from the folder that it worked in
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// progress is where a task stands in one call, as the records have it so far.
type progress struct {
	attempt int
	state   ledger.Status
	started *time.Time
	route   *ledger.Route
	last    *ledger.JobStatus // of the newest attempt that ended, or of the settling
	work    *ledger.Work
}

// record takes the next record about the task.
func (p *progress) record(rec ledger.Record) {
	switch rec.Kind {
	case ledger.KindIntent:
		at := rec.At
		*p = progress{attempt: rec.Attempt, state: ledger.Running, started: &at, route: rec.Route}
	case ledger.KindStarted: // what it was asked is in the call by now, and laid with the new time
		at := rec.At
		p.started = &at
	case ledger.KindAwaiting:
		p.state = ledger.Awaiting
	case ledger.KindAttemptEnded:
		p.state, p.last, p.work = ledger.Queued, rec.Settled, rec.Work
	case ledger.KindSettled:
		p.last, p.work = rec.Settled, rec.Work
		if rec.Settled != nil {
			p.state = rec.Settled.Status
		}
	case ledger.KindRequeued:
		p.state = ledger.Queued
	}
}

// told reports whether a kind of record changes where a task stands.
func told(kind ledger.RecordKind) bool {
	return slices.Contains([]ledger.RecordKind{
		ledger.KindIntent, ledger.KindStarted, ledger.KindAwaiting, ledger.KindAttemptEnded, ledger.KindSettled, ledger.KindRequeued,
	}, kind)
}

// status is what status.json says of the task.
func (p *progress) status(c Call, id string, resumeOf string) Status {
	s := Status{
		SchemaVersion: schemaVersion, TaskID: id, State: p.state, Call: c.ID, Attempts: p.attempt, StartedAt: p.started,
		ResumeOf: given(resumeOf), Artifacts: []Artifact{},
	}
	if p.route != nil {
		s.Adapter, s.Model = adapterOf(p.route.Runtime), given(p.route.Model)
	}
	if p.last != nil {
		s.tell(c, *p.last, p.work)
	}
	return s
}

// tell adds how an attempt ended.
func (s *Status) tell(c Call, j ledger.JobStatus, work *ledger.Work) {
	s.Adapter, s.Model, s.SessionID, s.Item = adapterOf(j.Runtime), given(j.Model), given(j.SessionID), j.Item
	s.Resumed, s.Attempts, s.StartedAt = j.ResumedFrom != "" && j.Reason != runtime.ReasonSession, j.Attempts, j.StartedAt
	if s.Reason = given(j.Reason); s.Reason != nil {
		s.Evidence = &j.ReasonEvidence
	}
	if j.StartedAt != nil {
		seconds := float64(j.DurationMs) / 1000
		s.DurationS = &seconds
	}
	if s.State.Settled() {
		code := ExitCode(j)
		s.ExitCode, s.Next = &code, given(Next(j, c.ID, signIn(c.Dir, j)))
	}
	if u := j.Usage; u != nil {
		s.Usage = &Usage{InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CostUSD: u.CostUSD}
	}
	if j.Worktree != nil {
		tree := *j.Worktree
		if !filepath.IsAbs(tree) {
			tree = filepath.Join(c.Dir, filepath.FromSlash(tree))
		}
		s.Worktree = &tree
	}
	if work != nil && work.Patch != "" && work.Patch != noChange {
		patch := filepath.Join(c.Dir, j.ID, ledger.PatchFile)
		s.Patch = &patch
	}
	for _, a := range j.Artifacts {
		s.Artifacts = append(s.Artifacts, Artifact{Path: placeOf(a), SHA256: a.SHA256, Bytes: a.Bytes})
	}
}

// noChange is the SHA-256 of an empty patch.
const noChange = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// adapterOf is what the form calls a runtime: the only program of a task is the person's own
// command.
func adapterOf(name string) *string {
	if name == exec.Name {
		name = ledger.Custom
	}
	return given(name)
}

// placeOf is where a person finds a file that the task left.
func placeOf(a ledger.Artifact) string {
	if a.Source == "tree" {
		return a.Path
	}
	return ledger.ArtifactsDir + "/" + a.Path
}

// given is nil for what is empty: unknown, or none.
func given[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}
