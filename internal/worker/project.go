package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orchestrate/internal/ledger"
)

// Project brings the folders of all tasks up to date and returns the tasks as Tasks does.
// Those of a call that an engine carries on are that engine's to write.
func (r Run) Project() ([]Task, error) {
	each, err := r.everyTask()
	if err != nil {
		return nil, err
	}
	older := map[string][]Task{}
	for _, t := range each {
		older[t.ID] = append(older[t.ID], t)
	}
	all := newestOf(each)
	for _, t := range all {
		same := older[t.ID]
		if err := t.project(same[:len(same)-1]); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Dir, err)
		}
	}
	return all, nil
}

// project lays the task's folder, and those of the same task in older calls where they are
// missing in it.
func (t Task) project(older []Task) error {
	if t.call.Live || !t.began() {
		return nil
	}
	if err := makeRoom(t.Dir, t.call.ID, func(call string) int {
		for _, o := range older {
			if o.Call == call {
				return o.nth
			}
		}
		return 0
	}); err != nil {
		return err
	}
	for _, o := range older {
		dir := filepath.Join(t.Dir, ledger.AttemptDir(o.nth))
		if _, err := os.Lstat(filepath.Join(dir, StatusFile)); !errors.Is(err, fs.ErrNotExist) || !o.began() {
			continue
		}
		if err := o.lay(dir); err != nil {
			return err
		}
	}
	return t.lay(t.Dir)
}

// began reports whether there is anything to tell of the task.
func (t Task) began() bool { return t.ever() || t.settled() }
