package engine

import (
	"context"
	"fmt"
	"path/filepath"

	"orchestrate/internal/workspace"
)

// inspectChecked finds what the checks of a writer changed in its part of the shared
// checkout, where they may write as it does: it is in no patch, and no tree of the job's
// own keeps it from the person. What a check makes beside the work is told; a repository,
// and a file of the work that is another one now, fail the job.
func (r *run) inspectChecked(ctx context.Context, a *attempt, s *settlement) error {
	if !a.at.shared() || a.box == nil || s.patch == nil || len(a.job.Checks) == 0 {
		return nil
	}
	if err := r.inspectOwned(a, s); err != nil {
		return err
	}
	now, err := r.plan.Repo.SnapshotTree(ctx)
	if err != nil {
		return fmt.Errorf("what the checks of job %s changed cannot be told: %w", a.job.ID, err)
	}
	changes, err := r.plan.Repo.Compare(ctx, s.patch.Commit, now)
	if err != nil {
		return fmt.Errorf("what the checks of job %s changed cannot be told: %w", a.job.ID, err)
	}
	made, replaced := r.byChecks(a, changes)
	if s.beside = made; len(made) > 0 {
		r.tellChange(fmt.Sprintf("made in the shared checkout by the checks of job %s, or by somebody else meanwhile, and not in its patch: %s", a.job.ID, some(made)), a.exit.EndedAt)
	}
	if len(replaced) > 0 {
		s.facts.FailedChecks = append(s.facts.FailedChecks, "changed in the checkout by the checks, and not in the patch: "+some(replaced))
	}
	return nil
}

// byChecks are the changes where the checks of a job may write: files that they made, and
// those that were there.
func (r *run) byChecks(a *attempt, changes []workspace.Change) (made, replaced []string) {
	for _, c := range changes {
		if !within(r.ownedBy(a), filepath.Join(a.at.top, filepath.FromSlash(c.Path))) {
			continue
		}
		if c.Status == "A" {
			made = append(made, c.Path)
		} else {
			replaced = append(replaced, c.Path)
		}
	}
	return made, replaced
}
