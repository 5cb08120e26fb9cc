package ledger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// What the tests ask of a run directory and of a state.

// Replay is the state that a run's journal tells of.
func Replay(dir string) (State, error) {
	f, err := replayFile(filepath.Join(dir, JournalFile), nil)
	return f.state, err
}

// Records are those of a run's journal, in order.
func Records(dir string) (all []Record, err error) {
	data, err := os.ReadFile(filepath.Join(dir, JournalFile))
	for line := range bytes.Lines(data) {
		rec, bad := parse(line)
		all, err = append(all, rec), errors.Join(err, bad)
	}
	return all, err
}

// Job finds a job by its id, the arbiter too; one that is not in the run has no status.
func (s State) Job(id string) JobState {
	if id == ArbiterJob && s.Arbiter != nil {
		return *s.Arbiter
	}
	for i := range s.Jobs {
		if s.Jobs[i].ID == id {
			return s.Jobs[i]
		}
	}
	return JobState{}
}

// Count is the number of jobs in one of the given statuses.
func (s State) Count(of ...Status) int {
	n := 0
	for i := range s.Jobs {
		if slices.Contains(of, s.Jobs[i].Status) {
			n++
		}
	}
	return n
}
