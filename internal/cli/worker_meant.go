package cli

import (
	"fmt"
	"slices"

	"orchestrate/internal/engine"
	"orchestrate/internal/ledger"
	"orchestrate/internal/worker"
)

// meant are the calls of a worker run, oldest first, that a command can be about; of none
// that it names only one is ever taken.
type meant func(run worker.Run, calls []worker.Call) ([]worker.Call, error)

// openCalls are those that go on or can go on.
func openCalls(_ worker.Run, calls []worker.Call) ([]worker.Call, error) {
	return those(calls, func(c worker.Call) bool { return !c.Ended() }), nil
}

// newestCall is the call that has not ended, or the last one: whoever waits for a call may come
// when it is over.
func newestCall(run worker.Run, calls []worker.Call) ([]worker.Call, error) {
	open, err := openCalls(run, calls)
	if len(open) == 0 && len(calls) > 0 {
		open = calls[len(calls)-1:]
	}
	return open, err
}

// unfinishedCalls are those that have not ended, else those in which something did not succeed.
func unfinishedCalls(run worker.Run, calls []worker.Call) ([]worker.Call, error) {
	open, err := openCalls(run, calls)
	if len(open) == 0 {
		open = those(calls, func(c worker.Call) bool {
			return slices.ContainsFunc(c.State.Jobs, func(j ledger.JobState) bool { return !j.Status.Well() })
		})
	}
	return open, err
}

// callsToBring are those that left work in worktrees which no integration has brought yet, else
// the call that has not ended, or the last one.
func callsToBring(run worker.Run, calls []worker.Call) ([]worker.Call, error) {
	written, err := run.Written()
	if err != nil {
		return nil, err
	}
	var all []worker.Call
	for _, c := range calls {
		left, err := unbrought(c, written[c.ID])
		if err != nil {
			return nil, err
		}
		if left {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return newestCall(run, calls)
	}
	return all, nil
}

// unbrought reports whether work of these tasks of a call is still only in its worktrees.
func unbrought(c worker.Call, tasks []string) (left bool, err error) {
	if len(tasks) == 0 {
		return false, nil
	}
	run, err := ledger.Open(c.Dir)
	if err != nil {
		return false, err
	}
	brought, err := engine.Brought(run)
	return slices.ContainsFunc(tasks, func(id string) bool { return !brought[id] }), joined(err, run.Close())
}

func those(calls []worker.Call, are func(worker.Call) bool) []worker.Call {
	return slices.DeleteFunc(slices.Clone(calls), func(c worker.Call) bool { return !are(c) })
}

// onlyCall is the run directory of the call that a worker run can stand for.
func onlyCall(run worker.Run, which meant) (string, error) {
	calls, err := run.Calls()
	if err != nil {
		return "", failure(err)
	}
	could, err := which(run, calls)
	switch {
	case err != nil:
		return "", failure(err)
	case len(calls) == 0:
		return "", usageError(fmt.Errorf("worker run %s has no call yet: orchestrate dispatch and orchestrate batch make one", run.ID))
	case len(could) == 1:
		return could[0].Dir, nil
	case len(calls) == 1:
		return calls[0].Dir, nil
	case len(could) > 1:
		calls = could
	}
	return "", usageError(fmt.Errorf("worker run %s has %d calls that could be meant; name one: %s", run.ID, len(calls), callIDs(calls)))
}
