package engine

import (
	"context"
	"fmt"
	"path/filepath"

	"orchestrate/internal/ledger"
	"orchestrate/internal/workspace"
)

// What an observer changed all the same is kept as a patch, to be looked at and undone.

// snapshotFor records the shared checkout before an observer that nothing holds starts
// in it, "" where there is no need to.
func (r *run) snapshotFor(ctx context.Context, a *attempt) string {
	if r.plan.Repo == nil || a.job.Writes() || a.at.isolated || !r.compared(a) || heldBy(a.route) != "" {
		return ""
	}
	tree, err := r.plan.Repo.SnapshotTree(ctx)
	if err != nil {
		r.note(ledger.Noted(a.job.ID, r.redact.String(fmt.Sprintf("the checkout could not be recorded before the job, so that no patch would be kept of what it changes: %v", err))))
	}
	return tree
}

// keepDiff leaves what an observer changed as changes.patch. before is the tree of the
// shared checkout when it started; a tree of its own knows where it started.
func (r *run) keepDiff(ctx context.Context, a *attempt, before string, s *settlement) error {
	tree := a.at.tree
	if tree == nil && before != "" {
		var err error
		if tree, err = workspace.SharedTree(ctx, r.plan.Repo, before); err != nil {
			return err
		}
	}
	if tree == nil {
		return nil
	}
	patch, err := tree.Capture(ctx, r.captureOf(ctx, a, s))
	if err != nil {
		return fmt.Errorf("what job %s changed could not be kept as a patch: %w", a.job.ID, err)
	}
	if err := r.keepDiffstat(a.job.ID, patch.Files); err != nil {
		return err
	}
	if len(patch.Files) > 0 {
		r.tell(fmt.Sprintf("job %s: what it changed although it was to change nothing is in %s; nothing of it was undone", a.job.ID, ledger.JobPath(a.job.ID, ledger.PatchFile)))
	}
	return nil
}

// captureOf is how the patch of an attempt is taken.
func (r *run) captureOf(ctx context.Context, a *attempt, s *settlement) workspace.CaptureRequest {
	return workspace.CaptureRequest{
		PatchPath: filepath.Join(a.dir, ledger.PatchFile),
		At:        a.begun, // so that the same work taken twice is the same commit
		Message:   fmt.Sprintf("orchestrate: %s, attempt %d", a.job.ID, a.n),
		Author:    fmt.Sprintf("orchestrate (%s)", a.route.Runtime),
		Trailers: []string{
			"Orchestrate-Run: " + r.led.ID, "Orchestrate-Job: " + a.job.ID,
			fmt.Sprintf("Orchestrate-Attempt: %d", a.n), "Orchestrate-Runtime: " + a.route.Runtime,
		},
		Review: func(p []byte) ([]byte, error) { return r.reviewPatch(ctx, a, p, s) },
	}
}

// relink puts back the .git of a worktree, if it is not what git made of it any more.
func (r *run) relink(a *attempt) error {
	if !a.at.isolated || a.at.tree == nil {
		return nil
	}
	changed, err := a.at.tree.Relink()
	if changed && err == nil {
		r.tell(fmt.Sprintf("job %s: the .git of its tree had been changed and was put back", a.job.ID))
	}
	return err
}
