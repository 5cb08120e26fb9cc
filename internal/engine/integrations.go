package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"orchestrate/internal/integrate"
	"orchestrate/internal/ledger"
)

// Intended is the integration of a run that is moving its target, or was cut off while
// it did; ok is false when there is none.
func Intended(run *ledger.Run) (in integrate.Integration, ok bool, err error) {
	rel := ledger.JobPath(ledger.IntegrationJob, ledger.IntentFile)
	if ok, err = run.ReadJSON(rel, &in); err != nil {
		err = fmt.Errorf("where an integration that was cut off was moving its target cannot be read: %w", err)
	}
	return in, ok, err
}

// earlierIntegrations are the integrations of a run that moved a target, the newest first.
func earlierIntegrations(run *ledger.Run) (all []integrate.Integration, err error) {
	newest, err := newestIntegration(run)
	if err != nil {
		return nil, err
	}
	for n := newest; n > 0; n-- {
		rel := ledger.JobPath(ledger.IntegrationJob, ledger.IntegrationFile)
		if n < newest {
			rel = ledger.JobPath(ledger.IntegrationJob, ledger.AttemptDir(n), ledger.IntegrationFile)
		}
		var in integrate.Integration
		if _, err := run.ReadJSON(rel, &in); err != nil {
			return nil, err
		}
		if in.Outcome == integrate.Integrated {
			all = append(all, in)
		}
	}
	return all, nil
}

// newestIntegration is the number of the last integration that left anything, 0 = none did.
func newestIntegration(run *ledger.Run) (int, error) {
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
	all, err := earlierIntegrations(run)
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
