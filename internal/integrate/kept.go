package integrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"orchestrate/internal/ledger"
)

// Intended is the integration of a run that is moving its target, or was cut off while
// it did; ok is false when there is none.
func Intended(run *ledger.Run) (in Integration, ok bool, err error) {
	rel := ledger.JobPath(ledger.IntegrationJob, ledger.IntentFile)
	if ok, err = read(run, rel, &in); err != nil {
		err = fmt.Errorf("where an integration that was cut off was moving its target cannot be read: %w", err)
	}
	return in, ok, err
}

// CutOff says that an integration was cut off while it moved its target, and what
// finishes it.
func CutOff(in Integration) string {
	finish := Command(in.RunID, nil, Merge, "")
	switch t := in.Target; {
	case t.New:
		return fmt.Sprintf("an integration of run %s was cut off while it made branch %s; finish it with: %s", in.RunID, t.Branch, finish)
	case t.Branch == "":
		return fmt.Sprintf("an integration of run %s was cut off while it moved the checkout, in which files may be half moved and git's index locked; commit nothing there, and finish it with: %s", in.RunID, finish)
	default:
		return fmt.Sprintf("an integration of run %s was cut off while it moved branch %s: files of the checkout may be half moved and git's index locked; commit nothing there, and finish it with: %s", in.RunID, t.Branch, finish)
	}
}

// Earlier are the integrations of a run that moved a target, the newest first.
func Earlier(run *ledger.Run) (all []Integration, err error) {
	newest, err := Newest(run)
	if err != nil {
		return nil, err
	}
	for n := newest; n > 0; n-- {
		rel := ledger.JobPath(ledger.IntegrationJob, ledger.IntegrationFile)
		if n < newest {
			rel = ledger.JobPath(ledger.IntegrationJob, ledger.AttemptDir(n), ledger.IntegrationFile)
		}
		var in Integration
		if _, err := read(run, rel, &in); err != nil {
			return nil, err
		}
		if in.Outcome == Integrated {
			all = append(all, in)
		}
	}
	return all, nil
}

// Newest is the number of the last integration that left anything, 0 = none did.
func Newest(run *ledger.Run) (int, error) {
	l, err := run.AttemptLock(ledger.IntegrationJob)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return l.Attempt, err
}

// Brought are the jobs of a run whose work an integration brought to its target, or found
// there: any of them, since a later one may have been about another target. Work of a job
// that was done again since is another one.
func Brought(run *ledger.Run) (map[string]bool, error) {
	all, err := Earlier(run)
	if err != nil {
		return nil, err
	}
	since := map[string]time.Time{}
	for _, j := range run.State().Jobs {
		if j.EndedAt != nil {
			since[j.ID] = *j.EndedAt
		}
	}
	jobs := map[string]bool{}
	for _, in := range all {
		for _, w := range in.Jobs {
			jobs[w.Job] = jobs[w.Job] || w.Done != "" && !in.At.Before(since[w.Job])
		}
	}
	return jobs, nil
}

// read reads a document of the run directory; there is false where it has none.
func read(run *ledger.Run, rel string, into any) (there bool, err error) {
	data, err := run.ReadFile(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", run.Path(rel), err)
	}
	return true, nil
}
