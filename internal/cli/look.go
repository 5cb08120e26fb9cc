package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"

	"orchestrate/internal/ledger"
	"orchestrate/internal/workspace"
)

// workspaceRoot is where run ids are looked up: the git top level of the cwd,
// else the cwd.
func workspaceRoot(sys System) string {
	top, err := workspace.Top(context.Background(), sys.Cwd)
	if err != nil {
		return sys.Cwd
	}
	return top
}

// openRun finds the run that a RUN argument names.
func openRun(sys System, arg string) (*ledger.Run, error) { return openRunOf(sys, arg, openCalls) }

// openRunOf is openRun for a command that is about other calls of a worker run.
func openRunOf(sys System, arg string, which meant) (*ledger.Run, error) {
	dir, err := findRunOf(sys, arg, which)
	if err != nil {
		return nil, err
	}
	run, err := ledger.Open(dir)
	if err != nil {
		return nil, failure(err)
	}
	return run, nil
}

// printFile prints a file of a run directory; what a terminal would obey it shows there.
func printFile(sys System, run *ledger.Run, rel, absent string) error {
	data, err := run.ReadFile(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return failure(errors.New(absent))
	}
	if err != nil {
		return failure(err)
	}
	if _, err = forReader(sys.Out).Write(data); err != nil {
		return failure(err)
	}
	return nil
}

// printJSON prints v for programs, in a form that a person can read too.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}
