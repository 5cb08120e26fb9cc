package handoff

import (
	"time"

	"orchestrate/internal/ledger"
)

// Handout is what `next --json` prints.
type Handout struct {
	SchemaVersion int      `json:"schemaVersion"`
	RunID         string   `json:"runId"`
	RunDir        string   `json:"runDir"`     // absolute
	Standing      string   `json:"standing"`   // of the run: running | awaiting | ended
	ExitStatus    *int     `json:"exitStatus"` // of a run that has ended, else null
	Request       *Request `json:"request"`    // null = there is nothing to take
	Lease         *Lease   `json:"lease"`      // null = there is nothing to take
	Others        []Other  `json:"others"`     // jobs that are with the session besides
}

// Other is a job that is with the session and that the caller did not get.
type Other struct {
	Job      string     `json:"job"`
	Attempt  string     `json:"attempt"`
	By       string     `json:"by"`       // who has it, "" = they did not say
	Until    *time.Time `json:"until"`    // null = nobody has it
	HandedIn bool       `json:"handedIn"` // something came back, and is not taken in yet
	// Unproven says that its time is over, that it writes, and that nothing shows that it
	// has ended: nobody else gets it before its result or its end is handed in.
	Unproven bool `json:"unproven"`
}

// OtherOf is what is told of a job that somebody else has.
func OtherOf(a Away, now time.Time) Other {
	o := Other{Job: a.Request.Job, Attempt: a.Request.Attempt, HandedIn: a.Submission != nil, Unproven: a.Unproven(now)}
	if a.Lease != nil {
		o.By, o.Until = a.Lease.By, &a.Lease.Until
	}
	return o
}

// Receipt is what `submit --json` prints.
type Receipt struct {
	SchemaVersion int           `json:"schemaVersion"`
	RunID         string        `json:"runId"`
	RunDir        string        `json:"runDir"` // absolute
	Job           string        `json:"job"`
	Attempt       string        `json:"attempt"`
	Repeated      bool          `json:"repeated"` // exactly this had been handed in before
	Redacted      []string      `json:"redacted"` // rules by which something was taken out of it
	TakenIn       bool          `json:"takenIn"`  // the attempt has settled; else the engine is at it
	Status        ledger.Status `json:"status"`   // of the job now
	Reason        string        `json:"reason"`   // for that, "" = none
	Phase         string        `json:"phase"`    // of the run now
	Next          string        `json:"next"`     // the command to type next
}
