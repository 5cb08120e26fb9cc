// Package report tells what a run came to: for a person with two minutes
// (Markdown), for programs (JSON) and as the block that `run` prints last. It
// decides nothing and reads nothing; the engine hands it everything.
package report

import (
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// Input is what a report is made from. Paths are relative: of a job's files to
// the run directory, RunDir and kept trees to the workspace root.
type Input struct {
	RunDir      string    // such as plans/reports/orchestrate-20260730-120005
	SpecPath    string    // as the person would type it
	Worker      bool      // it is a call of the worker form, whose spec nobody else can run
	Given       string    // of such a call, the command line that does it once more; "" = not known
	Rehearse    bool      // the run was asked for as a rehearsal
	Agents      bool      // a hosting session told of its agents
	Internal    bool      // these were candidates for jobs that name no runtime
	Script      string    // the rehearsal's script where one was named, from the workspace root
	GitTop      string    // the repository's top level from the workspace root, "" or "." when they are the same
	Standing    string    // how the run stands, "" = Ended
	Now         time.Time // when an interim report is made; of a run that has ended its own end counts
	State       ledger.State
	Jobs        map[string]ledger.JobStatus   // newest attempt of each job that has one
	Earlier     map[string][]ledger.JobStatus // attempts before that, oldest first
	Arbiter     []ledger.JobStatus            // the arbiter's own attempts, oldest first
	Judgement   *ledger.Judgement             // nil: nobody judged
	Approvals   []ledger.Approval
	Patches     []Patch // each after those that it builds on
	KeptTrees   []Tree
	Checkout    []string              // changes of the shared checkout that a person must look at, also in Notes
	Notes       []string              // changes from outside, warnings, and what else happened to the run
	NextSteps   map[string]string     // what a person can do about a job, by its id
	VerdictStep string                // what a person can do about a verdict of fail or blocked, "" = nothing beside the jobs
	After       map[string][]string   // the jobs that a job depends on, by its id
	Dirs        map[string]string     // where a job worked, by its id: a tree from the run directory or absolute, the checkout from the workspace root
	Budget      *Budget               // where it stands; nil = not known, the run goes on
	Suggestions []string              // what the history of many runs shows, for a person
	Commands    map[string]string     // redacted, shell-quoted command of a job, as in its command.txt
	Patterns    map[string]Pattern    // what jobs are in patterns, by id
	Continues   map[string]string     // whose session jobs go on with, by id
	Sessions    map[string]Session    // what is known of the jobs of the hosting session, by id
	Planned     bool                  // the run only made a spec from a request, and is never gone on with
	Exists      func(rel string) bool // whether a path in the run directory is there; nil: all are
}

// Patch is a writer's work: it waits for somebody to integrate it, unless the
// writer worked in the person's own checkout.
type Patch struct {
	Job   string `json:"job"`
	Path  string `json:"path"` // in the run directory
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
	// Added and Deleted count lines; of Binary files there are none.
	Added    int    `json:"added"`
	Deleted  int    `json:"deleted"`
	Binary   int    `json:"binary"`
	Diffstat string `json:"diffstat"` // the file that counts them file by file, in the run directory
	Stat     string `json:"-"`        // its content
	Base     string `json:"base"`     // the commit it was made on
	After    string `json:"after"`    // the job whose patch it builds on and must be applied before, "" = none
	Commit   string `json:"commit"`   // its snapshot commit, "" = none
	Branch   string `json:"branch"`
	// Applied says that the work is in the checkout already.
	Applied bool `json:"applied"`
	// DisplayOnly says that the file is a redacted copy, from which nothing can be
	// applied; the commit has all of it.
	DisplayOnly bool   `json:"displayOnly"`
	Apply       string `json:"apply"` // the command, from the workspace root; "" = Applied. Build fills it
	Undo        string `json:"undo"`  // the command that takes Applied work back, else "". Build fills it
}

// Tree is the worktree of a failed attempt, kept for a person to look at.
type Tree struct {
	Job     string `json:"job"`
	Attempt int    `json:"attempt"`
	Path    string `json:"path"`
	Branch  string `json:"branch"`
}

// Report is report.json.
type Report struct {
	SchemaVersion int               `json:"schemaVersion"`
	RunID         string            `json:"runId"`
	RunDir        string            `json:"runDir"`
	SpecPath      string            `json:"specPath"`
	SpecDigest    string            `json:"specDigest"`
	Base          string            `json:"base"`
	Rehearsal     bool              `json:"rehearsal"`
	Standing      string            `json:"standing"` // ended | running | stopping | awaiting | cut-off
	Verdict       string            `json:"verdict"`  // "" = the run has not ended
	ExitStatus    *int              `json:"exitStatus"`
	StartedAt     time.Time         `json:"startedAt"`
	EndedAt       *time.Time        `json:"endedAt"`
	DurationMs    int64             `json:"durationMs"`
	NeedsPerson   []string          `json:"needsPerson"`
	Approvals     []ledger.Approval `json:"approvals"`
	Totals        Totals            `json:"totals"`
	Checks        Checks            `json:"checks"`
	Usage         Usage             `json:"usage"`
	Budget        *Budget           `json:"budget"` // null = where it stands is not known, the run goes on
	Jobs          []Job             `json:"jobs"`
	Arbiter       *Job              `json:"arbiter"` // the arbiter's own attempts; null when none was asked
	Judgement     *ledger.Judgement `json:"judgement"`
	Patches       []Patch           `json:"patches"`
	KeptTrees     []Tree            `json:"keptTrees"`
	Notes         []string          `json:"notes"`
	Suggestions   []string          `json:"suggestions"` // what the history of many runs shows; it changes nothing by itself
	Reproduce     []Command         `json:"reproduce"`
	Unresolved    []string          `json:"unresolvedQuestions"`
	Block         Block             `json:"completion"`

	Planned bool `json:"planned"` // see Input

	stopping bool      // it was asked to stop and has not ended
	asOf     time.Time // when it was made; of a run that has ended its end
}

// Totals counts jobs that somebody did, or is to do.
type Totals struct {
	Total       int `json:"total"`
	Succeeded   int `json:"succeeded"`
	Failed      int `json:"failed"`
	Blocked     int `json:"blocked"`
	Interrupted int `json:"interrupted"`
	Queued      int `json:"queued"`  // or running, or with the hosting session: not settled
	Skipped     int `json:"skipped"` // not needed: none of Total
	Unmet       int `json:"unmet"`   // results of patterns that are not what was asked: none of Total
}

// Checks counts declared checks of the newest attempts.
type Checks struct {
	Passed     int `json:"passed"`
	Failed     int `json:"failed"`
	Timeout    int `json:"timeout"`
	NotRun     int `json:"notRun"`
	ForArbiter int `json:"forArbiter"`
	Scripted   int `json:"scripted"` // the result came from a rehearsal's script
}

// Usage sums what runtimes reported over all attempts.
type Usage struct {
	Known       runtime.Usage `json:"known"`       // each figure null when nobody reported it
	UnknownJobs int           `json:"unknownJobs"` // agents' attempts that have ended and reported nothing

	running int // agents' attempts that may report yet
}

// Job is one job's part.
type Job struct {
	Status    ledger.JobStatus   `json:"status"`
	Earlier   []ledger.JobStatus `json:"earlier"`   // attempts before the newest
	Answer    string             `json:"answer"`    // path of the final answer, "" = none
	NextStep  string             `json:"nextStep"`  // what a person can do, "" = nothing to do
	After     []string           `json:"after"`     // the jobs that it depends on
	Pattern   *Pattern           `json:"pattern"`   // null = it is in none
	Continues string             `json:"continues"` // the job whose session it goes on with: JOB, RUN/JOB of another run, or a session's id; "" = nobody's
	Session   *Session           `json:"session"`   // null = no job of the hosting session, or not known
	Dir       string             `json:"dir"`       // where it worked: a tree from the run directory or absolute, the checkout from the workspace root; "" = not known
	Alike     []string           `json:"-"`         // jobs that are told with it, see alike
}

// Command is one that can be pasted into a shell at the workspace root.
type Command struct {
	Job     string `json:"job"` // "" = the run
	Command string `json:"command"`
}
