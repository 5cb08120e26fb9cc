// Package spec reads a job spec (YAML or JSON), says everything that is wrong
// with it at once, with positions, and makes every default explicit.
package spec

import "time"

// Spec is what a user wrote, validated, with defaults applied.
type Spec struct {
	Version        int
	Outcome        string
	Constraints    []string
	NonGoals       []string
	Acceptance     []string
	Concurrency    int
	WorkspaceRoots []string // absolute, symlinks resolved; the first is the workspace root
	Base           string   // a git revision, resolved by the engine
	Budget         Budget
	Arbiter        Arbiter
	Jobs           []Job

	Worker     bool        // it was written by the worker form: nobody reviews
	Repository *Repository // what the repository sets; nil = nothing

	Path    string   // absolute path of the file
	Dir     string   // its folder: prompt_file and instructions are relative to it
	Source  []byte   // the bytes the user gave
	Digest  string   // sha256 of Source, hex
	BasePos Position // of base; its Line is 0 where the spec does not say one
	ModePos Position // of arbiter.mode, where it is said
	Advice  []Diagnostic
	Warning []Diagnostic
}

// Budget bounds a run; zero fields are unbounded.
type Budget struct {
	USD    float64
	Tokens int64
	Wall   time.Duration
}

// Arbiter says who judges.
type Arbiter struct {
	Runtime            string // "" = routed by policy
	Model              string
	Timeout            time.Duration
	Mode               string // required | checks-only
	RequireIndependent bool
	MaxEvidenceBytes   int // of the evidence that it is given
}

// Job is one unit of work. A pointer or nil slice that is nil was absent.
type Job struct {
	ID                 string
	Runtime            string // "" when absent or a <placeholder>
	RuntimePlaceholder string // the placeholder as written, for the record
	Fallbacks          []Fallback
	Agent              string
	Model              string
	Effort             string
	Task               string
	Importance         string // normal | high
	Prompt             string // text, from prompt or prompt_file
	PromptFile         *File
	Skill              *File // Path "" when it is a name that the runtime resolves
	SkillName          string
	Instructions       []File
	Command            []string // exec
	Cwd                string   // absolute, symlinks resolved
	AllowedTools       []string // nil = absent
	DisallowedTools    []string
	Effect             string // observe | scoped-write | high-impact-write | external-destructive
	Untrusted          bool
	Credentialed       bool
	Approval           string // inherit | require
	Isolation          string // none | worktree; "" = not said
	OwnedPaths         []string
	Serialize          string
	Overlap            string // refuse | accept
	Inputs             []Input
	Outputs            []Output
	Timeout            time.Duration // 0 in the spec = 24 h here
	FirstOutputTimeout time.Duration
	ExpectedOutput     string
	DependsOn          []string // with those implied by Inputs and Worktree
	Destructive        bool
	Preview            string
	Rollback           string
	Checks             []Check
	Retry              Retry
	MaxOutputBytes     int64
	EnvAllow           []string
	Worktree           Worktree
	Continue           string // id of the job whose session it goes on with, "" = a fresh one
	MaxTurns           int    // of the agent, where its runtime has such a limit; 0 = the runtime's own

	Part    *Part    // what it is in a pattern, nil = it is in none
	Item    *Item    // the item of a list that it is for, nil = none
	Round   *Round   // when it is needed, nil = always
	Gather  *Gather  // the engine itself makes its result, nil = somebody is asked
	Verdict *Verdict // its answer must hold a verdict, nil = it need not
	// AfterAll says that those it depends on need only have ended; at least Require of them
	// must have succeeded.
	AfterAll bool
	Require  int
	Worker   *Worker // of the worker form, nil = of a spec

	Pos Position // of the job's id
}

// Fallback is a declared successor of the job's runtime.
type Fallback struct {
	Runtime     string // "" for a placeholder: the next best by policy
	Model       string // binds only this runtime
	Placeholder string
}

// File is a text file named by the spec and read once.
type File struct {
	Path   string // as written
	SHA256 string
	Text   string
}

// Input is a file (or the final answer, FromPath "") of another job.
type Input struct {
	FromJob  string
	FromPath string
	SHA256   string
}

// Output is a file that the job must leave.
type Output struct {
	Path   string // relative to the job's cwd, or to its artifacts folder for an observer
	SHA256 string
}

// Check is run by the engine (Run or Shell) or put to the arbiter (Assert).
type Check struct {
	Name    string
	Run     []string      // argv
	Shell   string        // shell command
	Assert  string        // for the arbiter
	Timeout time.Duration // 0 in the spec = the default here
}

// Worktree says what a job's own worktree is furnished with, and where it starts.
type Worktree struct {
	Copy  []string // ignored files of the checkout that it gets, as patterns from the job's cwd
	Setup []Check  // commands that run in it before the job does, without assertions
	Base  string   // id of the job at whose snapshot it starts, "" = as the graph says
}

// Empty reports whether nothing was asked for. Anything else needs a worktree.
func (w Worktree) Empty() bool { return len(w.Copy) == 0 && len(w.Setup) == 0 && w.Base == "" }

// Retry says which failures are tried again.
type Retry struct {
	MaxAttempts int
	Backoff     time.Duration
	On          []string
}

// Writes reports whether the job may change files outside its artifacts.
func (j *Job) Writes() bool { return j.Effect != "observe" }

// Exec reports whether the job runs a plain program.
func (j *Job) Exec() bool { return len(j.Command) > 0 }

// Position is a place in a file, lines and columns from 1.
type Position struct {
	File string
	Line int
	Col  int
}

// Diagnostic is one thing wrong with (or worth saying about) a spec.
type Diagnostic struct {
	Pos     Position
	Field   string // path such as jobs[2].prompt
	Message string // what was found, what is allowed, what was perhaps meant
	Rule    string // short stable name, such as unknown-key, cycle, secret
}
