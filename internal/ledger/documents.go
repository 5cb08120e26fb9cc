package ledger

import (
	"time"

	"orchestrate/internal/runtime"
)

// Runtimes is runtimes.json: the profiles of this run.
type Runtimes struct {
	SchemaVersion int               `json:"schemaVersion"`
	Profiles      []runtime.Profile `json:"profiles"`
}

// Session is a job's session.json: what is needed to speak to the same session again.
type Session struct {
	SchemaVersion int    `json:"schemaVersion"`
	Job           string `json:"job"`
	Attempt       int    `json:"attempt"`
	Runtime       string `json:"runtime"`
	SessionID     string `json:"sessionId"` // "" = the runtime has none or did not say
	Model         string `json:"model"`     // observed, else requested
	Cwd           string `json:"cwd"`       // absolute; sessions belong to a folder
	ResumedFrom   string `json:"resumedFrom"`
}

// CheckResult is checks/<n>.json.
type CheckResult struct {
	SchemaVersion int `json:"schemaVersion"`
	Check
}

// Approvals is approvals.json: what a person allowed.
type Approvals struct {
	SchemaVersion int        `json:"schemaVersion"`
	Approvals     []Approval `json:"approvals"`
}

// Approval allows exactly one job as it was when it was shown.
type Approval struct {
	Job    string    `json:"job"`
	Effect string    `json:"effect"`
	Digest string    `json:"digest"` // over everything that was approved, hex
	By     string    `json:"by"`     // flag | tty | elicitation
	At     time.Time `json:"at"`
}
