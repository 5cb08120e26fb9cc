package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/worker"
)

// findRun finds the run directory that a RUN argument names. A worker run stands for its
// only call, or the only one that has not ended.
func findRun(sys System, arg string) (string, error) { return findRunOf(sys, arg, openCalls) }

// findRunOf is findRun for a command that is about other calls of a worker run.
func findRunOf(sys System, arg string, which meant) (string, error) {
	dir, err := ledger.Find(workspaceRoot(sys), arg)
	if err == nil {
		return dir, nil
	}
	run, is, werr := workerRun(sys, arg)
	switch {
	case werr != nil:
		return "", werr
	case !is:
		return "", usageError(err)
	}
	return onlyCall(run, which)
}

// workerRun is the worker run that a RUN argument names, if it names one. An ordinary run of
// the same second has the same id, and goes first, as a folder names either.
func workerRun(sys System, arg string) (run worker.Run, is bool, err error) {
	root := workspaceRoot(sys)
	if _, err := ledger.Find(root, arg); err == nil {
		return run, false, nil
	}
	run, err = worker.Open(root, sys.Cwd, arg)
	var none *worker.NoRunError
	switch {
	case errors.As(err, &none):
		return run, false, nil
	case err != nil:
		return run, false, failure(err)
	}
	return run, true, nil
}

// newestWith is the newest call of a worker run that has a task.
func newestWith(run worker.Run, task string) (worker.Call, error) {
	calls, err := run.Calls()
	if err != nil {
		return worker.Call{}, failure(err)
	}
	for _, c := range slices.Backward(calls) {
		if slices.ContainsFunc(c.State.Jobs, func(j ledger.JobState) bool { return j.ID == task }) {
			return c, nil
		}
	}
	return worker.Call{}, usageError(fmt.Errorf("worker run %s has no task %q; orchestrate status %s lists those it has", run.ID, task, run.ID))
}

// callIDs names the newest calls.
func callIDs(calls []worker.Call) string {
	var ids []string
	for _, c := range slices.Backward(calls) {
		if len(ids) == summaryNames {
			return strings.Join(ids, ", ") + ", …"
		}
		ids = append(ids, c.ID)
	}
	return strings.Join(ids, ", ")
}

// callWith is arg, or where that names a worker run the run directory of its newest call
// that has the task.
func callWith(sys System, arg, task string) (string, error) {
	run, is, err := workerRun(sys, arg)
	if err != nil || !is {
		return arg, err
	}
	call, err := newestWith(run, task)
	return call.Dir, err
}
