package ledger

import (
	"encoding/json"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// SchemaVersion is the version of every JSON form that this program writes.
const SchemaVersion = 1

// RecordKind says what a journal record tells.
type RecordKind string

// The kinds of record. Each has its own closed shape, see docs/schemas.
const (
	KindRunStarted   RecordKind = "run_started"   // the first record: Run
	KindIntent       RecordKind = "intent"        // an attempt will be started: Job, Attempt, Route
	KindStarted      RecordKind = "started"       // its process runs: Job, Attempt, PID, StartTime
	KindEvent        RecordKind = "event"         // it said something: Job, Attempt, Event
	KindAttemptEnded RecordKind = "attempt_ended" // it ended and another may follow: Settled
	KindSettled      RecordKind = "settled"       // the job will not move again: Settled
	KindNote         RecordKind = "note"          // worth knowing, changes no state: Text, perhaps Job
	KindArbitrating  RecordKind = "arbitrating"   // the jobs are over, the arbiter's turn
	KindRunEnded     RecordKind = "run_ended"     // the last record, unless the run is resumed: Verdict, ExitStatus
	KindResumed      RecordKind = "resumed"       // another engine carries the run on: RetryFailed, Internal, AgentsDigest
	KindApproved     RecordKind = "approved"      // a person allowed a job: Job, Approval
	KindProgress     RecordKind = "progress"      // a step that takes its time began or ended: Progress, perhaps Job; changes no state
	KindRequeued     RecordKind = "requeued"      // a resumed run will do this job again, or at last: Job, Text
	KindAwaiting     RecordKind = "awaiting"      // an attempt was handed to the hosting session: Job, Attempt
	KindExpanded     RecordKind = "expanded"      // the list that jobs of a pattern are for is known: Job, Expanded
	KindParked       RecordKind = "parked"        // nothing can go on before the hosting session acts, and the engine leaves: ExitStatus
)

// Record is one line of journal.jsonl. Use the constructors below: they fill
// what a kind needs. Seq and SchemaVersion are given by the ledger, At too unless
// it is set. Strings must be redacted before they come here.
type Record struct {
	SchemaVersion int            `json:"schemaVersion"`
	Seq           int64          `json:"seq"` // from 1, without gaps
	At            time.Time      `json:"at"`
	Kind          RecordKind     `json:"kind"`
	Job           string         `json:"job,omitempty"`
	Attempt       int            `json:"attempt,omitempty"` // 0 = never dispatched
	Status        Status         `json:"status,omitempty"`
	Reason        runtime.Reason `json:"reason,omitempty"`
	Text          untrusted.Text `json:"text,omitzero"`
	PID           int            `json:"pid,omitempty"`
	StartTime     uint64         `json:"startTime,omitempty"` // as in runtime.Event
	Run           *RunInfo       `json:"run,omitempty"`
	Route         *Route         `json:"route,omitempty"`
	Event         *runtime.Event `json:"event,omitempty"`
	Settled       *JobStatus     `json:"settled,omitempty"`
	Next          *Next          `json:"next,omitempty"` // on attempt_ended; on settled only with a pause
	Verdict       string         `json:"verdict,omitempty"`
	ExitStatus    *int           `json:"exitStatus,omitempty"`
	Work          *Work          `json:"work,omitempty"`         // of the attempt that ended
	About         string         `json:"about,omitempty"`        // of a note: run | checkout | budget | secret
	RetryFailed   bool           `json:"retryFailed,omitempty"`  // failed jobs are to be done again too
	Internal      bool           `json:"internal,omitempty"`     // on resumed: as RunInfo, from now on
	AgentsDigest  string         `json:"agentsDigest,omitempty"` // on resumed: of agents.json from now on, "" = as before
	Approval      *Given         `json:"approval,omitempty"`
	Progress      *Progress      `json:"progress,omitempty"`
	Expanded      *Expanded      `json:"expanded,omitempty"`
}

// Expanded is a list as it was found in the answers of the jobs that made it. It is
// durable before any job of the list begins, so that a resumed run has the same one.
type Expanded struct {
	Of      string            `json:"of"`      // the job as the spec has it
	Sources []string          `json:"sources"` // digest of each answer that it was found in
	Items   []json.RawMessage `json:"items"`   // in their order; item n is that of the job with number n
}

// Progress is a step of the engine's own that a person may have to wait for.
type Progress struct {
	Step string `json:"step"` // one of the steps below
	Of   string `json:"of"`   // what it is about: a runtime, a check; "" where the job says it all
	Done bool   `json:"done"` // false = it has begun
}

// The steps that are told.
const (
	StepProbe    = "probe"    // a runtime is asked
	StepWorktree = "worktree" // a tree is made: Job
	StepSetup    = "setup"    // it is furnished and set up: Job
	StepCheck    = "check"    // a check of a job runs: Job
	StepReview   = "review"   // the arbiter's tree and evidence are made
)

// What a note can be about. The arbiter and the report are told those of the run and
// the checkout too; one about a secret is held against its attempt. Other notes are for
// who follows the run.
const (
	AboutRun      = "run"
	AboutCheckout = "checkout" // the shared checkout changed
	AboutBudget   = "budget"   // it holds back what has not begun
	AboutStop     = "stop"     // it was asked to stop
	AboutSecret   = "secret"   // an attempt left one in the run directory: Job, Attempt
)

// Next is what was decided after an attempt, about the one that follows and about its
// runtime: an engine that comes after a crash goes on by it.
type Next struct {
	Moved     bool       `json:"moved"`     // a fallback was promoted
	NotBefore *time.Time `json:"notBefore"` // null = at once
	Pause     string     `json:"pause"`     // runtime that is held back, "" = none
	Until     *time.Time `json:"until"`     // null = for the rest of the run
	Resets    *time.Time `json:"resets"`    // when its quota is back, as the runtime said; null = it did not
}

// RunInfo is what is fixed when a run starts. Dir, Cwd, Rehearse and Script are
// empty in runs that an older program started.
type RunInfo struct {
	RunID      string   `json:"runId"`
	SpecPath   string   `json:"specPath"`
	SpecDigest string   `json:"specDigest"` // SHA-256 of the spec's bytes, hex
	Base       string   `json:"base"`       // commit, "" outside a repository
	Jobs       []string `json:"jobs"`       // ids in spec order
	Dir        string   `json:"dir"`        // the run directory, absolute
	Cwd        string   `json:"cwd"`        // where the run was started from
	Rehearse   bool     `json:"rehearse"`
	Script     string   `json:"script"` // of the stand-in, "" = none
	// RepositoryDigest is the SHA-256 of defaults.yaml, hex, "" = there is none.
	RepositoryDigest string `json:"repositoryDigest"`
	Internal         bool   `json:"internal"` // the hosting session's own agents are candidates for unpinned jobs
	// AgentsDigest is the SHA-256 of agents.json, hex, "" = no session told of its agents.
	AgentsDigest string `json:"agentsDigest"`
	// Worker is the worker run, absolute, whose tasks these are; "" = none's. Nobody reviews.
	Worker string `json:"worker,omitempty"`
	// RequestDigest is the SHA-256 of request.md, hex, "" = a person wrote the spec.
	RequestDigest string `json:"requestDigest"`
}

// Work is what an attempt was given and what it left, as digests: whether its
// success still counts when the run is resumed follows from them.
type Work struct {
	Inputs string   `json:"inputs"` // digest of what it was given
	Base   string   `json:"base"`   // commit its tree started from, "" = none
	Commit string   `json:"commit"` // snapshot of what it left, "" = none
	Output string   `json:"output"` // SHA-256 of output.md, "" = none
	Patch  string   `json:"patch"`  // SHA-256 of changes.patch, "" = none
	Masked bool     `json:"masked"` // the patch is a redacted copy to read
	Shared []string `json:"shared"` // paths it changed in the shared checkout
	// Findings are the rules of layer 1 that it broke.
	Findings []Finding `json:"findings"`
}

// RunStarted is the first record of a run.
func RunStarted(info RunInfo) Record {
	return Record{Kind: KindRunStarted, Run: &info}
}

// Intent says that attempt n (from 1) of job is about to be handed to a
// supervisor. It must be durable before that happens.
func Intent(job string, n int, route Route) Record {
	return Record{Kind: KindIntent, Job: job, Attempt: n, Route: &route}
}

// Started says that the program of attempt n runs as pid; startTime as in
// runtime.Event.
func Started(job string, n, pid int, startTime uint64) Record {
	return Record{Kind: KindStarted, Job: job, Attempt: n, PID: pid, StartTime: startTime}
}

// Imported is an event that the supervisor of attempt n wrote.
func Imported(job string, n int, e runtime.Event) Record {
	return Record{Kind: KindEvent, Job: job, Attempt: n, Event: &e}
}

// AttemptEnded says that the newest attempt is over while its job goes back to
// the queue for another one. s is that attempt's status.json.
func AttemptEnded(s JobStatus) Record {
	r := Settle(s)
	r.Kind = KindAttemptEnded
	return r
}

// Settle says that the job has ended as s, which is also its status.json.
// s.Attempts is the number of its newest attempt, 0 when it was never dispatched.
func Settle(s JobStatus) Record {
	return Record{
		Kind: KindSettled, Job: s.ID, Attempt: s.Attempts,
		Status: s.Status, Reason: s.Reason, Text: s.ReasonEvidence, Settled: &s,
	}
}

// Noted is something worth knowing about the run, or about job unless it is "".
func Noted(job, text string) Record {
	return Record{Kind: KindNote, Job: job, Text: untrusted.From(text)}
}

// Told is a note of the run that the arbiter and the report are told too.
func Told(about, text string) Record {
	return Record{Kind: KindNote, About: about, Text: untrusted.From(text)}
}

// LeftSecret says that attempt n of job left a secret, which is about to be taken out
// of the run directory: text names it and where it was, never its value.
func LeftSecret(job string, n int, text string) Record {
	return Record{Kind: KindNote, Job: job, Attempt: n, About: AboutSecret, Text: untrusted.From(text)}
}

// AwaitingSession says that attempt n of job is with the hosting session: request.json is
// there, and somebody can take it.
func AwaitingSession(job string, n int) Record {
	return Record{Kind: KindAwaiting, Job: job, Attempt: n}
}

// ExpandedTo says what the list of the jobs of a pattern is; job is the first of them.
func ExpandedTo(job string, e Expanded) Record {
	return Record{Kind: KindExpanded, Job: job, Expanded: &e}
}

// Parked says that all that could go on has, and that the engine leaves until the hosting
// session acts. The next record is Resumed.
func Parked(exitStatus int) Record { return Record{Kind: KindParked, ExitStatus: &exitStatus} }

// Resumed says that another engine carries the run on, whether or not it had ended.
func Resumed(retryFailed bool) Record {
	return Record{Kind: KindResumed, RetryFailed: retryFailed}
}

// Approved says that a person allowed a job, exactly as it would be dispatched. It must
// be durable before that happens.
func Approved(g Given) Record { return Record{Kind: KindApproved, Job: g.Job, Approval: &g} }

// Requeued puts a job of a resumed run back into the queue, and says why.
func Requeued(job, why string) Record {
	return Record{Kind: KindRequeued, Job: job, Text: untrusted.From(why)}
}

// Under says that a step began, or is done. job is "" for one of the run.
func Under(job, step, of string, done bool) Record {
	return Record{Kind: KindProgress, Job: job, Progress: &Progress{Step: step, Of: of, Done: done}}
}

// Arbitrating says that the jobs are over and the arbiter's turn has come.
func Arbitrating() Record { return Record{Kind: KindArbitrating} }

// RunEnded is the last record of a run, until somebody resumes it: the verdict and
// the exit status.
func RunEnded(verdict string, exitStatus int) Record {
	return Record{Kind: KindRunEnded, Verdict: verdict, ExitStatus: &exitStatus}
}
