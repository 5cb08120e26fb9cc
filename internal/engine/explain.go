package engine

import (
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// Story is what the records of a run say of one of its jobs. They were redacted
// before they were written.
type Story struct {
	SchemaVersion int             `json:"schemaVersion"`
	RunID         string          `json:"runId"`
	RunDir        string          `json:"runDir"`
	Job           string          `json:"job"`
	Task          string          `json:"task"`
	DependsOn     []Waited        `json:"dependsOn"`
	SideEffects   string          `json:"sideEffects"`
	Status        ledger.Status   `json:"status"`
	Reason        runtime.Reason  `json:"reason"`
	Evidence      untrusted.Text  `json:"evidence"`
	NotStarted    string          `json:"notStarted"` // why it was never dispatched; "" = it was
	NextStep      string          `json:"nextStep"`   // what a person can do; "" when nothing is needed
	Pattern       *report.Pattern `json:"pattern"`    // what it is in a pattern, null = it is in none
	Item          string          `json:"item"`       // what it is for, shortened; "" = no item of a list, or not known
	Decided       string          `json:"decided"`    // what it came to where it gathers other jobs' results
	Continues     string          `json:"continues"`  // whose session it goes on with, "" = nobody's
	Session       *report.Session `json:"session"`    // of a job that the hosting session carries out, or did; else null
	Route         *ledger.Route   `json:"route"`      // of a job that was never dispatched, null = none is on record
	Attempts      []Attempt       `json:"attempts"`
	Happenings    []Happening     `json:"happenings"` // what else happened to it, oldest first

	Runtimes []runtime.Profile `json:"-"` // as the run has them on record
}

// Newest is the newest route that is on record, nil = none.
func (s Story) Newest() *ledger.Route {
	if n := len(s.Attempts); n > 0 {
		return &s.Attempts[n-1].Route
	}
	return s.Route
}

// Waited is a job that another one depends on.
type Waited struct {
	Job    string        `json:"job"`
	Status ledger.Status `json:"status"`
}

// Attempt is one dispatch of the job.
type Attempt struct {
	Attempt       int            `json:"attempt"`
	Status        ledger.Status  `json:"status"` // running or awaiting until it has ended
	Reason        runtime.Reason `json:"reason"`
	Evidence      untrusted.Text `json:"evidence"`
	StartedAt     time.Time      `json:"startedAt"`
	EndedAt       *time.Time     `json:"endedAt"`
	ExitCode      *int           `json:"exitCode"`
	Signal        string         `json:"signal"`
	ObservedModel string         `json:"observedModel"` // "" = it did not say
	Route         ledger.Route   `json:"route"`
	Reach
	Denied []untrusted.Text `json:"denied"` // lines of its output, and of its checks', which say that the sandbox refused something
	Then   string           `json:"then"`   // what was decided when it had ended; "" = nothing
}

// Happening is something that happened to a job beside its attempts.
type Happening struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Explain tells the story of one job from a run's directory and all its records, in
// order. The run may be live.
func Explain(run *ledger.Run, records []ledger.Record, job string, now time.Time) (Story, error) {
	t := teller{run: run, at: map[string]ledger.JobStatus{}, story: Story{
		SchemaVersion: ledger.SchemaVersion, RunID: run.ID, RunDir: run.Dir, Job: job,
		DependsOn: []Waited{}, Attempts: []Attempt{}, Happenings: []Happening{},
	}}
	if err := t.read(job); err != nil {
		return t.story, err
	}
	for _, r := range records {
		t.record(r)
	}
	for i := range t.story.Attempts {
		if err := t.reach(&t.story.Attempts[i]); err != nil {
			return t.story, err
		}
	}
	t.conclude()
	var err error
	if t.story.Session, err = SessionOf(run, job); t.story.Session != nil && t.story.Status == ledger.Awaiting {
		t.story.NextStep = t.story.Session.Next(run.ID, job, now)
	}
	return t.story, err
}
