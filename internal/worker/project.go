package worker

import (
	"errors"
	"fmt"
	"os"

	"orchestrate/internal/ledger"
)

// Project brings the folders of all tasks up to date and returns the tasks as Tasks does.
// Those of a call that an engine carries on are that engine's to write. unkept says which
// folders are not as they should be: nothing is lost with them, and the tasks are told from
// the calls all the same.
func (r Run) Project() (tasks []Task, unkept, err error) {
	each, err := r.everyTask()
	if err != nil {
		return nil, nil, err
	}
	older := map[string][]Task{}
	for _, t := range each {
		older[t.ID] = append(older[t.ID], t)
	}
	all := newestOf(each)
	for _, t := range all {
		same := older[t.ID]
		if err := t.project(same[:len(same)-1]); err != nil {
			unkept = errors.Join(unkept, fmt.Errorf("%s: %w", t.Dir, err))
		}
	}
	return all, unkept, nil
}

// project lays the task's folder, and in it those of the same task in older calls.
func (t Task) project(older []Task) error {
	if t.call.Live || !t.began() {
		return nil
	}
	later := false // a call has begun with it since it was looked who has it
	err := t.in("", func(dir *os.Root) (err error) {
		later, err = makeRoom(dir, t.call)
		return err
	})
	for _, o := range older {
		if err == nil && !o.call.Live && o.began() {
			err = o.in(o.aside(), o.lay)
		}
	}
	switch {
	case err != nil:
		return err
	case later:
		return t.in(t.aside(), t.lay)
	}
	return t.in("", t.lay)
}

// aside is the folder of the task where a later call has it too: in that one's, by the
// number of the call.
func (t Task) aside() string { return ledger.AttemptDir(t.call.N) }

// began reports whether there is anything to tell of the task.
func (t Task) began() bool { return t.ever() || t.settled() }
