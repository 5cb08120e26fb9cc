package handoff

import (
	"time"

	"orchestrate/internal/runtime"
)

// Request is request.json: all that an agent needs to do one job, and what binds it.
type Request struct {
	SchemaVersion int    `json:"schemaVersion"`
	RunID         string `json:"runId"`
	RunDir        string `json:"runDir"` // absolute
	Job           string `json:"job"`
	// Attempt is to be given back with the result. Each attempt has another one, so that a
	// result that comes too late cannot pass for one of a later attempt.
	Attempt string `json:"attempt"`
	N       int    `json:"n"` // number of the attempt, from 1

	Agent      string `json:"agent"`      // of the session, that is to do it
	AgentModel string `json:"agentModel"` // as the session said, "" = it did not
	Task       string `json:"task"`
	Effect     string `json:"effect"`

	Prompt     string  `json:"prompt"`     // assembled and redacted: give it to the agent as it is
	PromptFile string  `json:"promptFile"` // absolute path of the same
	Cwd        string  `json:"cwd"`        // absolute; the agent works here
	Worktree   *string `json:"worktree"`   // absolute; null = it works in the shared checkout
	Branch     *string `json:"branch"`

	MayRead         []string `json:"mayRead"`         // absolute folders and files
	MayWrite        []string `json:"mayWrite"`        // absolute folders, or globs below cwd; none = it only observes
	AllowedTools    []string `json:"allowedTools"`    // null = not limited by the spec
	DisallowedTools []string `json:"disallowedTools"` // null = none
	Out             string   `json:"out"`             // absolute folder, of this attempt alone, for the declared outputs of one that only observes
	Outputs         []string `json:"outputs"`         // declared; of a writer relative to cwd, else to out
	ExpectedOutput  string   `json:"expectedOutput"`
	Checks          []string `json:"checks"` // the engine runs them on the result; the agent may run them before

	// TimeoutMs is for the account only: nothing here can stop an agent of the session. A
	// result that comes after it counts if nothing that it builds on has changed. 0 = none.
	TimeoutMs      int64 `json:"timeoutMs"`
	MaxResultBytes int64 `json:"maxResultBytes"`

	Controls    []string  `json:"controls"`    // what holds the work, as proven
	Constrained []string  `json:"constrained"` // what does not
	CreatedAt   time.Time `json:"createdAt"`
}

// Lease is lease.json: who has taken a request.
type Lease struct {
	SchemaVersion int       `json:"schemaVersion"`
	Attempt       string    `json:"attempt"`
	By            string    `json:"by"` // as the caller named itself, "" = it did not
	At            time.Time `json:"at"`
	Until         time.Time `json:"until"`
	// Lapsed says that nothing is taken of this attempt any more: the lease ran out and
	// somebody else wants the job, so that the engine ends the attempt and makes another, or
	// the engine ends it for another cause.
	Lapsed bool `json:"lapsed"`
}

// Given reports whether somebody took the job: a request that was closed before that has a
// lease of no time.
func (l Lease) Given() bool { return l.Until.After(l.At) }

// Over reports whether a lease has run out.
func (l Lease) Over(now time.Time) bool { return !now.Before(l.Until) }

// Submission is submission.json: what came back. Its text is in result.md.
type Submission struct {
	SchemaVersion int            `json:"schemaVersion"`
	Attempt       string         `json:"attempt"`
	Failed        bool           `json:"failed"`
	Reason        string         `json:"reason"`       // why, in the session's words, redacted; "" unless it failed
	Agent         string         `json:"agent"`        // who did it, "" = as was asked
	Model         string         `json:"model"`        // as the session observed it, "" = it did not say
	Usage         *runtime.Usage `json:"usage"`        // null = it did not say
	ResultSHA256  string         `json:"resultSha256"` // of result.md, hex; "" = there is none
	At            time.Time      `json:"at"`
}

// Usable limits of what a caller may ask for.
const (
	// DefaultLease is how long a request stays with who took it, where its job has no
	// timeout.
	DefaultLease = 15 * time.Minute
	// MaxResult bounds a result in bytes, whatever the job allows.
	MaxResult = 16 << 20
)
