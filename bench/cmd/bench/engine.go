//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"orchestrate/internal/ledger"
)

// runDir is the directory of the one run in a folder, or of the one call of its worker run.
func runDir(dir string) (string, error) {
	found, err := filepath.Glob(filepath.Join(dir, "plans/reports/orchestrate-*", ledger.StateFile))
	if err == nil && len(found) == 0 { // a call of the worker form
		found, err = filepath.Glob(filepath.Join(dir, ledger.WorkerRunsDir, "*", ledger.CallsDir, "*", ledger.StateFile))
	}
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("%d run directories in %s, expected one", len(found), dir)
	}
	if err != nil {
		return "", err
	}
	return filepath.Dir(found[0]), nil
}

// findEngine tells the engine of the run in dir from the rest of a command's tree; so
// it also shows that the engine was waited for and counted.
func (c *cost) findEngine(dir string) error {
	run, err := runDir(dir)
	if err != nil {
		return err
	}
	pid, err := lastEngine(run)
	if err != nil {
		return err
	}
	all := append([]part{c.Command}, c.Orphans...)
	i := slices.IndexFunc(all, func(p part) bool { return p.PID == pid })
	switch {
	case pid == 0: // of a version in which the command was the engine
		i = 0
	case i < 0:
		return fmt.Errorf("the engine of %s, process %d, was not among what was waited for: %+v", run, pid, all)
	}
	c.Engine = all[i]
	return nil
}

// viewer is the CPU time of the command that only shows what its engine does, and of
// the step between them.
func (c cost) viewer() float64 {
	if c.Engine.PID == c.Command.PID {
		return 0
	}
	return c.Command.CPU
}

// lastEngine is the pid of the engine that carried a run on last, as its lock says.
func lastEngine(run string) (pid int, err error) {
	data, err := os.ReadFile(filepath.Join(run, ledger.RunLockFile))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(data) {
		var owner struct{ Engine *struct{ PID int } }
		if err := json.Unmarshal(line, &owner); err != nil {
			return 0, fmt.Errorf("%s/%s: %w", run, ledger.RunLockFile, err)
		}
		if owner.Engine != nil {
			pid = owner.Engine.PID
		}
	}
	return pid, nil
}
