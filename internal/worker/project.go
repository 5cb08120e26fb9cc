package worker

import (
	"fmt"
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

// project lays the task's folder, and in it those of the same task in older calls.
func (t Task) project(older []Task) error {
	if t.call.Live || !t.began() {
		return nil
	}
	if _, err := makeRoom(t.Dir, t.call); err != nil {
		return err
	}
	for _, o := range older {
		if o.call.Live || !o.began() {
			continue
		}
		if err := o.lay(o.aside()); err != nil {
			return err
		}
	}
	return t.lay(t.Dir)
}

// aside is the folder of the task where a later call has it too: in that one's, by the
// number of the call.
func (t Task) aside() string { return filepath.Join(t.Dir, ledger.AttemptDir(t.call.N)) }

// began reports whether there is anything to tell of the task.
func (t Task) began() bool { return t.ever() || t.settled() }
