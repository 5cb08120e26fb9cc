// Package check asks the questions that need no judgement: do the declared
// checks pass, are the declared outputs there, did a writer stay inside the paths
// it owns, and did it change what judges it. The answers come from the engine's
// own look at the tree, never from what an agent said.
package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/shellword"
	"orchestrate/internal/spec"
)

// The statuses of a check.
const (
	Passed     = "passed"
	Failed     = "failed"
	TimedOut   = "timeout"
	NotRun     = "not-run"     // it could not be started, or the run ended before it
	ForArbiter = "for-arbiter" // an assertion
	Scripted   = "scripted"    // a rehearsal's script said that it passes
)

// Command is one check, ready to run.
type Command struct {
	Job     string
	Argv    []string
	Dir     string // absolute
	Timeout time.Duration
	Env     []string // the whole environment, NAME=value
	Stdout  string   // absolute path of the file that the runner fills, redacted
	Stderr  string
}

// Result is how a check's process ended.
type Result struct {
	ExitCode   *int // nil when a signal ended it or it never started
	TimedOut   bool
	SpawnError string // it could not be started
	Duration   time.Duration
}

// Runner runs one process to the proven end of its tree. An error says that
// nothing is known about how the process ended.
type Runner interface {
	Run(ctx context.Context, c Command) (Result, error)
}

// Env is where and how the checks of one job run.
type Env struct {
	Runner   Runner
	Job      string
	Dir      string                                            // absolute cwd of the checks
	RunDir   string                                            // absolute; files go to <job>/checks below it
	Environ  []string                                          // the same environment as the job's
	Redact   func(string) string                               // for the recorded command
	Record   func(rel string, result ledger.CheckResult) error // writes checks/<n>.json
	Scripted map[string]bool                                   // a rehearsal's results by check name: true = pass
	// Setup says that these are no checks but what sets a worktree up: their files go to
	// <job>/setup, and nothing is run after one that did not pass.
	Setup bool
	// Begun, if not nil, is told which check begins, and what it returns when it is over.
	Begun func(name string) (over func())
}

// Run runs the checks one after the other, all of them even when one fails, and
// records each. The error, beside the results, says what could not be run or
// recorded; such a check is not-run and has not passed.
func Run(ctx context.Context, checks []spec.Check, env Env) ([]ledger.Check, error) {
	if len(checks) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(filepath.Dir(env.file(env.path(1, "out"))), 0o700); err != nil {
		return nil, fmt.Errorf("%ss of %s: %w", env.what(), env.Job, err)
	}
	results := make([]ledger.Check, len(checks))
	var errs []error
	for i, c := range checks {
		var err error
		results[i], err = env.one(ctx, i+1, c)
		errs = append(errs, err)
		record := ledger.CheckResult{SchemaVersion: 1, Check: results[i]}
		errs = append(errs, env.Record(env.path(i+1, "json"), record))
		if env.Setup && !OK(results[i]) {
			results = results[:i+1]
			break
		}
	}
	return results, errors.Join(errs...)
}

// one runs check n, counted from 1.
func (e Env) one(ctx context.Context, n int, c spec.Check) (ledger.Check, error) {
	r := ledger.Check{Name: Name(n, c), Kind: "run", Status: NotRun}
	if c.Assert != "" {
		r.Kind, r.Status, r.Command = "assert", ForArbiter, e.redact(c.Assert)
		return r, nil
	}
	r.Command = e.redact(Shown(c))
	if pass, ok := e.Scripted[r.Name]; ok {
		return scripted(r, pass), nil
	}
	if ctx.Err() != nil {
		return r, nil
	}
	if e.Begun != nil {
		defer e.Begun(r.Name)()
	}
	r.Output = e.path(n, "out")
	cmd := Command{
		Job: e.Job, Argv: argv(c), Dir: e.Dir, Timeout: c.Timeout, Env: e.Environ,
		Stdout: e.file(r.Output), Stderr: e.file(e.path(n, "err")),
	}
	res, err := e.Runner.Run(ctx, cmd)
	if err != nil {
		return r, fmt.Errorf("%s %s of %s: %w", e.what(), r.Name, e.Job, err)
	}
	if res.SpawnError != "" {
		return r, fmt.Errorf("%s %s of %s could not be started: %s", e.what(), r.Name, e.Job, res.SpawnError)
	}
	r.ExitCode, r.DurationMs, r.Status = res.ExitCode, res.Duration.Milliseconds(), status(ctx, res)
	return r, nil
}

// path is that of a file of command n, from the run directory.
func (e Env) path(n int, ext string) string {
	if e.Setup {
		return ledger.SetupPath(e.Job, n, ext)
	}
	return ledger.CheckPath(e.Job, n, ext)
}

func (e Env) what() string {
	if e.Setup {
		return "set-up command"
	}
	return "check"
}

func (e Env) file(rel string) string { return filepath.Join(e.RunDir, filepath.FromSlash(rel)) }

func (e Env) redact(s string) string {
	if e.Redact == nil {
		return s
	}
	return e.Redact(s)
}

func status(ctx context.Context, res Result) string {
	switch {
	case res.TimedOut:
		return TimedOut
	case res.ExitCode != nil && *res.ExitCode == 0:
		return Passed
	case ctx.Err() != nil: // it was stopped with the run, which says nothing about the work
		return NotRun
	}
	return Failed
}

// scripted is a result that nobody worked for; that a script passes a check is
// kept apart from a pass.
func scripted(r ledger.Check, pass bool) ledger.Check {
	code := 1
	r.Status = Failed
	if pass {
		code, r.Status = 0, Scripted
	}
	r.ExitCode = &code
	return r
}

// OK reports whether a check leaves nothing against the job. Assertions are for
// the arbiter and hold nothing up here.
func OK(c ledger.Check) bool {
	return c.Status == Passed || c.Status == Scripted || c.Status == ForArbiter
}

// Name is a check's own name, or check-<n> for the n-th, counted from 1.
func Name(n int, c spec.Check) string {
	if c.Name != "" {
		return c.Name
	}
	return "check-" + strconv.Itoa(n)
}

// argv is what is really run.
func argv(c spec.Check) []string {
	if c.Shell != "" {
		return []string{"sh", "-c", c.Shell}
	}
	return c.Run
}

// Shown is a check's command for a person: a shell command as written, an argv
// quoted so that it can be pasted.
func Shown(c spec.Check) string {
	if c.Shell != "" {
		return c.Shell
	}
	return shellword.Join(c.Run)
}
