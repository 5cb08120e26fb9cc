// Package ledger owns the run directory: its layout, the append-only journal,
// the readable snapshot, locks, atomic files, and replaying all of that. Every
// fact of a run is in the ledger before anything acts on it.
package ledger

import (
	"encoding/json"
	"strings"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// Status is where a job stands.
type Status string

// The statuses of a job.
const (
	Queued      Status = "queued"
	Running     Status = "running"
	Awaiting    Status = "awaiting"
	Success     Status = "success"
	Failed      Status = "failed"
	Blocked     Status = "blocked"
	Interrupted Status = "interrupted"
	Skipped     Status = "skipped" // a pattern did not need it; counts for nothing
)

// Settled reports whether a job in this status will not move again in this run.
func (s Status) Settled() bool {
	return s == Success || s == Failed || s == Blocked || s == Interrupted || s == Skipped
}

// NothingToJoin begins the evidence of a skipped job that was to bring the results of others
// together, none of which was needed.
const NothingToJoin = "nothing to join: "

// LeftNothing reports whether a job was skipped that was to bring others' results together:
// whoever waits for its result gets none.
func (j JobState) LeftNothing() bool {
	return j.Status == Skipped && strings.HasPrefix(j.Evidence.Line(0), NothingToJoin)
}

// Well reports whether nothing is amiss: it succeeded or was not needed.
func (s Status) Well() bool { return s == Success || s == Skipped }

// JobStatus is a job's status.json.
type JobStatus struct {
	SchemaVersion  int            `json:"schemaVersion"`
	ID             string         `json:"id"`
	Runtime        string         `json:"runtime"`
	Model          string         `json:"model"` // observed, else requested
	RequestedModel string         `json:"requestedModel"`
	ObservedModel  string         `json:"observedModel"`
	Agent          string         `json:"agent"`
	Task           string         `json:"task"`
	CapabilityTier string         `json:"capabilityTier"`
	RiskTier       string         `json:"riskTier"`
	Status         Status         `json:"status"`
	Reason         runtime.Reason `json:"reason"`
	ReasonEvidence untrusted.Text `json:"reasonEvidence"`
	ExitCode       *int           `json:"exitCode"`
	Signal         string         `json:"signal"`
	DurationMs     int64          `json:"durationMs"`
	TimedOut       bool           `json:"timedOut"`
	Attempts       int            `json:"attempts"`
	Worktree       *string        `json:"worktree"`
	Branch         *string        `json:"branch"`
	SessionID      string         `json:"sessionId"`
	ResumedFrom    string         `json:"resumedFrom"`
	Controls       []string       `json:"controls"`
	Route          *Route         `json:"route"`
	FallbackReason string         `json:"fallbackReason"`
	Usage          *runtime.Usage `json:"usage"`
	Truncated      Truncated      `json:"truncated"`
	Artifacts      []Artifact     `json:"artifacts"`
	Checks         []Check        `json:"checks"`
	Rehearsal      bool           `json:"rehearsal"` // the stand-in did it
	Proof          *Proof         `json:"proof"`     // that the process tree is gone
	StartedAt      *time.Time     `json:"startedAt"`
	EndedAt        *time.Time     `json:"endedAt"`
	// Decided says in a line what a job that gathers came to, "" = it gathers nothing.
	Decided string `json:"decided,omitempty"`
	// Item is the value of the item of a list that the job is for, nil = it is for none.
	Item json.RawMessage `json:"item,omitempty"`
}

// Truncated counts dropped bytes per stream.
type Truncated struct {
	Stdout int64 `json:"stdout"`
	Stderr int64 `json:"stderr"`
}

// Artifact is a declared output or other file that a job left.
type Artifact struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Source string `json:"source"` // tree | artifacts | answer
}

// Check is the result of one declared check.
type Check struct {
	Name       string `json:"name"`
	Command    string `json:"command"` // shell-quoted, redacted; for an assertion its text
	Kind       string `json:"kind"`    // run | assert
	Status     string `json:"status"`  // passed | failed | timeout | not-run | for-arbiter | scripted
	ExitCode   *int   `json:"exitCode"`
	DurationMs int64  `json:"durationMs"`
	Output     string `json:"output"` // path in the run directory
}

// Proof says how the end of the job's process tree is known.
type Proof struct {
	Level string `json:"level"`
	Gone  bool   `json:"gone"`
}

// Route is the recorded form of a routing decision.
type Route struct {
	Runtime          string      `json:"runtime"`
	Model            string      `json:"model"` // as it goes on the command line; "" = the runtime's own default
	Agent            string      `json:"agent"`
	Effort           string      `json:"effort"`     // as it goes on the command line
	EffortWhy        string      `json:"effortWhy"`  // "" when it is the word that the spec says
	Capability       string      `json:"capability"` // of the candidate
	CapabilityFloor  string      `json:"capabilityFloor"`
	CapabilitySource string      `json:"capabilitySource"`
	Risk             string      `json:"risk"`
	RiskWhy          string      `json:"riskWhy"`
	Family           string      `json:"family"`
	Independence     string      `json:"independence"` // independent | independent: no agent produced anything | not-independent: reason | ""
	Isolation        string      `json:"isolation"`
	IsolationWhy     string      `json:"isolationWhy"` // "" when as the spec said
	Access           string      `json:"access"`
	Sandbox          string      `json:"sandbox"` // what holds its processes: own (the runtime's), landlock (the engine's), "" = nothing
	Controls         []string    `json:"controls"`
	Constrained      []string    `json:"constrained"`
	Why              string      `json:"why"`
	Placeholder      string      `json:"placeholder"` // what the spec wrote, if a placeholder
	Candidates       []Candidate `json:"candidates"`
}

// A task of the worker form that a command of the person's own does.
const (
	OwnCommand = "a command of your own" // Why of its route
	Custom     = "custom"                // what its adapter is called
)

// programRuntime is the runtime of a job that is a plain program.
const programRuntime = "exec"

// Adapter is what a person calls the runtime of the route: who gave a command of their own
// named no runtime.
func (r Route) Adapter() string {
	if r.Runtime == programRuntime && r.Why == OwnCommand {
		return Custom
	}
	return r.Runtime
}

// Candidate is one runtime that was considered, and why it was or was not taken.
type Candidate struct {
	Runtime string      `json:"runtime"`
	Agent   string      `json:"agent,omitempty"` // of the hosting session
	Model   string      `json:"model"`
	Chosen  bool        `json:"chosen"`
	Reasons []string    `json:"reasons"`
	Account []Criterion `json:"account"` // in the order in which they were asked; it ends where the candidate was dropped
}

// Criterion is one thing that a candidate was held against, and what was found.
type Criterion struct {
	Criterion string `json:"criterion"`
	Finding   string `json:"finding"`
}
