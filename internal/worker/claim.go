package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"orchestrate/internal/ledger"
)

// BusyError says that a task is another call's: doing it here too would do it twice.
type BusyError struct {
	Call  string   // id of that call
	Tasks []string // which they are; none = all of the manifest
	how   busyness
}

// busyness is how a call has a task.
type busyness int

const (
	atWork    busyness = iota // its engine is at it
	abandoned                 // its engine is gone, and the worker still runs
	begun                     // it began with it while the other one was made ready, and may have ended since
)

func (e *BusyError) Error() string {
	what := "this manifest"
	if len(e.Tasks) > 0 {
		what = "task " + some(e.Tasks)
	}
	switch e.how {
	case abandoned:
		return fmt.Sprintf("the engine of call %s is gone, and its worker still runs %s; take it over (orchestrate resume %s), end it (orchestrate cancel %s) or take another id", e.Call, what, e.Call, e.Call)
	case begun:
		return fmt.Sprintf("call %s has begun with %s since this one looked, so it is not begun twice; see what comes of it: orchestrate wait %s", e.Call, what, e.Call)
	}
	return fmt.Sprintf("call %s is at work with %s; wait for it (orchestrate wait %s) or take another id", e.Call, what, e.Call)
}

// Claim makes sure that nobody else has the tasks of a call that was written down and is
// about to begin, and holds all other calls back until release, which comes once the call has
// begun. tasks are the ids of the jobs in its spec. With a BusyError nothing is left of what
// was written down.
func (r Run) Claim(ctx context.Context, spec string, tasks []string) (release func() error, err error) {
	p := Prepared{Dir: filepath.Dir(spec), Spec: spec}
	release, err = r.held(ctx, func(calls []Call) error {
		var o order
		data, err := os.ReadFile(filepath.Join(p.Dir, callFile))
		if err == nil {
			err = json.Unmarshal(data, &o)
		}
		if err != nil {
			return err
		}
		return busy(calls, tasks, o.After)
	})
	var other *BusyError
	if errors.As(err, &other) {
		err = errors.Join(err, p.Discard())
	}
	return release, err
}

// ClaimAgain is Claim for a call, by its run directory, that is about to go on: the tasks
// that would be done, with retryFailed those that failed too, are nobody else's by now.
func (r Run) ClaimAgain(ctx context.Context, dir string, retryFailed bool) (release func() error, err error) {
	return r.held(ctx, func(calls []Call) error {
		i := slices.IndexFunc(calls, func(c Call) bool { return c.N == numberOf(filepath.Base(dir)) })
		if i < 0 {
			return nil // it had not begun
		}
		var ids []string
		for _, j := range calls[i].State.Jobs {
			if !j.Status.Well() && (retryFailed || j.Status != ledger.Failed) {
				ids = append(ids, j.ID)
			}
		}
		after := newestCall(calls)
		return busy(slices.Delete(calls, i, i+1), ids, after)
	})
}

// held takes the lock under which calls begin, and gives it back where check has an error.
func (r Run) held(ctx context.Context, check func([]Call) error) (release func() error, err error) {
	if release, err = ledger.LockWorker(ctx, r.Dir); err != nil {
		return nil, err
	}
	calls, err := r.Calls()
	if err == nil {
		err = check(calls)
	}
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

// busy says which call has any of these tasks, nil = none has. One later than after has what
// it began with, even if it has ended: whoever decided to do the task knew nothing of it.
func busy(calls []Call, ids []string, after int) error {
	for _, c := range slices.Backward(calls) {
		for _, how := range []busyness{atWork, abandoned, begun} {
			has := func(id string) bool { return c.has(id, how, after) }
			if tasks := filtered(ids, has); len(tasks) > 0 {
				return &BusyError{Call: c.ID, Tasks: tasks, how: how}
			}
		}
	}
	return nil
}

func (c Call) has(id string, how busyness, after int) bool {
	switch how {
	case atWork:
		return c.Live && slices.ContainsFunc(c.State.Jobs, func(j ledger.JobState) bool { return j.ID == id && !j.Status.Settled() })
	case abandoned:
		return slices.Contains(c.Left, id)
	}
	return c.N > after && slices.Contains(c.Info.Jobs, id)
}

func filtered(ids []string, keep func(string) bool) (some []string) {
	for _, id := range ids {
		if keep(id) {
			some = append(some, id)
		}
	}
	return some
}

// newestCall is the number of the newest call, 0 = there is none.
func newestCall(calls []Call) int {
	if len(calls) == 0 {
		return 0
	}
	return calls[len(calls)-1].N
}
