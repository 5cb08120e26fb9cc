package runtime

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// Adapter is a recipe for asking one program what it is and for giving it a job.
// It holds no model name, price or tier.
type Adapter interface {
	// Name is the runtime's name in a spec.
	Name() string
	// Probe asks the installed program; it makes no model call, signs nothing in
	// and returns a Profile whatever happens.
	Probe(ctx context.Context, host Host) Profile
	// Command builds the command of one attempt from verified evidence only. An
	// error says which part of the request the evidence does not support.
	Command(req Request, p Profile) (Command, error)
	// Decoder reads the stream of the command built for req.
	Decoder(spec DecoderSpec) Decoder
	// SignInEnv names the environment variables that carry this runtime's own
	// sign-in and configuration; they are passed to its jobs and probes.
	SignInEnv() []string
	// Shared reports whether concurrent starts share state files on disk, so that
	// starts must be spaced.
	Shared() bool
}

// SessionKeeper is an adapter that knows whether a session keeps its id when it is gone on
// with. Where it does, another id in the stream is that of a session that was begun anew.
type SessionKeeper interface {
	KeepsSession() bool
}

// Host is how a probe reaches the machine.
type Host interface {
	// LookPath finds an executable like a shell would, without running it.
	LookPath(name string) (string, error)
	// Run runs one bounded question in a scratch folder with a closed or given
	// stdin and ends its whole process tree.
	Run(ctx context.Context, q Question) Answer
	// Getenv reads the environment that probes and jobs would get.
	Getenv(name string) string
	// Hash identifies an executable: absolute path, symlink target, SHA-256.
	Hash(path string) (Executable, error)
	// Now is the clock.
	Now() time.Time
}

// Question is one probe command.
type Question struct {
	Argv    []string
	Lead    int // how many words of Argv are a shell's around the program; a person needs none of them
	Stdin   []byte
	Env     []string      // extra NAME=value
	Timeout time.Duration // 0 = the default of 15 s
	// Bare keeps the person's keys from a program that has not shown yet who it is.
	Bare bool
}

// Answer is what a probe command said. Err is set when it could not be run.
type Answer struct {
	Stdout, Stderr []byte
	ExitCode       int
	TimedOut       bool
	Err            error
	CPUMs          *int64   // of its process tree; nil = not measured
	Evidence       Evidence // the same, bounded and redacted, ready for the profile
}

// Access is what a job's route may write.
type Access string

// The levels of access.
const (
	AccessRead  Access = "read"  // nothing
	AccessEdit  Access = "edit"  // edits inside Dir, no shell
	AccessShell Access = "shell" // edits inside Dir and a shell
)

// Request is what the engine wants from one attempt.
type Request struct {
	Job             string
	Attempt         int
	Task            string
	Prompt          string   // whole; travels by stdin where the runtime can
	PromptFile      string   // absolute path of the same on disk, for a program that reads a file
	Argv            []string // exec only: the program to run
	Leaves          bool     // a reader that may leave files in Out, and is told so
	Fed             bool     // exec only: it gets the prompt on its standard input, and by variables
	Dir             string   // absolute cwd
	Out             string   // absolute artifacts folder, $ORCHESTRATE_OUT
	ReadDirs        []string // absolute folders outside Dir that the agent may read
	Private         string   // absolute folder of this attempt for temporary files and caches, "" = none
	Access          Access
	Model           string // as on the command line; "" = the runtime's default
	Agent           string
	Effort          string
	MaxTurns        int      // most turns of the agent, where the program has such a limit; 0 = its own
	AllowedTools    []string // nil = the adapter's own set for Access
	DisallowedTools []string
	Resume          string   // session id to continue, or ""
	Project         bool     // the operator lets the project's own hooks, settings and instructions apply
	Script          string   // standin only: absolute path of its script, or ""
	Judged          []string // standin only: ids that the arbiter is asked about, each with the citation to give: ID or ID=KIND:REF
	OwnedPaths      []string // standin only: globs relative to Dir that it may write
	Outputs         []string // standin only: declared outputs
	AnswerSchema    []byte   // JSON Schema that the final answer must fit, for a runtime that enforces one; nil = free
	AnswerSchemaAt  string   // absolute path of the same on disk, for a program that reads a file
	ExpectedOutput  string   // standin only: what its answer repeats
}

// Command is a runnable form of a Request.
type Command struct {
	Argv       []string
	Env        []string // extra NAME=value, beside the filtered environment
	Stdin      []byte   // given whole, then closed
	Decoder    DecoderSpec
	PoliteStop string        // "INT", "TERM", "TERM-GROUP" or "" (none)
	Controls   []ControlName // those that this command really applies
	Limits     []string      // constraints to record on the route, e.g. LimitShell
	MaxTurns   int           // the most turns that it holds the agent to; 0 = none that was asked for
	Answer     AnswerSource
}

// Limits of a command that a sandbox around it closes.
const (
	LimitShell = "shell not confined"
	LimitEdits = "edits are not confined to their folder"
)

// Closed reports whether a sandbox around the command makes an end of one of its limits.
func Closed(limit string) bool { return limit == LimitShell || limit == LimitEdits }

// Use notes that the command applies a control, or says why it cannot: what completes
// "cannot be …".
func (c *Command) Use(p Profile, name ControlName, what string) error {
	if !p.Has(name) {
		return fmt.Errorf("%s cannot be %s: control %q is not verified: %s", p.Runtime, what, name, p.EvidenceOf(name))
	}
	c.Controls = append(c.Controls, name)
	return nil
}

// CapTurns gives the program the most turns that the agent may take, where it has a flag
// for that.
func (c *Command) CapTurns(req Request, p Profile, flag string) {
	if req.MaxTurns > 0 && p.Shows(flag) {
		c.Argv, c.MaxTurns = append(c.Argv, flag+"="+strconv.Itoa(req.MaxTurns)), req.MaxTurns
	}
}

// AnswerSource says where the final answer comes from.
type AnswerSource string

// Sources of the final answer.
const (
	AnswerFromStream AnswerSource = "stream" // the decoder's Outcome.Answer
	AnswerFromStdout AnswerSource = "stdout" // the captured standard output (exec)
)

// DecoderSpec names a decoder for the supervisor, which rebuilds it from this.
type DecoderSpec struct {
	Runtime       string `json:"runtime"`
	BaselineInput int64  `json:"baselineInput,omitempty"` // tokens already counted by a resumed thread
	BaselineOut   int64  `json:"baselineOut,omitempty"`
	Custom        *Form  `json:"custom,omitempty"` // of a runtime that is described by data
}

// Form says where things are in the output of a runtime that is described by data.
// Fields are dotted paths into the JSON object of a line, such as "result.text".
type Form struct {
	Completion string `json:"completion,omitempty"` // "field=value" of the last line; "" = exit status 0 is it
	Answer     string `json:"answer,omitempty"`     // of the last line
	Session    string `json:"session,omitempty"`    // of the first line that has it
	Model      string `json:"model,omitempty"`      // that answered, of the last line

	InputTokens  string `json:"inputTokens,omitempty"` // of the last line, as are the next two
	OutputTokens string `json:"outputTokens,omitempty"`
	CostUSD      string `json:"costUsd,omitempty"`

	Error string `json:"error,omitempty"` // what went wrong, of the last line

	// A line reports a refused tool when its Refused field contains RefusedText.
	Refused     string `json:"refused,omitempty"`
	RefusedText string `json:"refusedText,omitempty"`
	RefusedTool string `json:"refusedTool,omitempty"` // field that names the tool
}
