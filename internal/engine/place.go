package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
	"orchestrate/internal/workspace"
)

// place is where one attempt works, and against what its changes are told.
type place struct {
	dir      string          // absolute cwd
	top      string          // absolute top of the tree that dir is in
	tree     *workspace.Tree // nil for an observer in the shared checkout
	isolated bool            // the tree is a worktree of its own
	branch   string          // of that worktree, "" none
	lost     error           // why the tree cannot be opened again after its engine died
}

// shared reports whether a writer works in the person's own checkout there.
func (p place) shared() bool { return p.tree != nil && !p.isolated }

// place makes ready where attempt n of a job works: a worktree of its own, or the
// shared checkout.
func (r *run) place(ctx context.Context, j *spec.Job, route ledger.Route, n int) (place, error) {
	base, own := r.baseOf(j, route)
	if own {
		return r.worktree(ctx, j, base, n)
	}
	shared := place{dir: j.Cwd, top: r.plan.Root}
	if !j.Writes() || r.plan.Repo == nil {
		return shared, nil
	}
	before, err := r.plan.Repo.SnapshotTree(ctx)
	if err != nil {
		return place{}, fmt.Errorf("the checkout could not be recorded before job %s: %w", j.ID, err)
	}
	shared.tree, err = workspace.SharedTree(ctx, r.plan.Repo, before)
	shared.top = r.plan.Repo.Top()
	return shared, err
}

// baseOf says from which commit a job's tree starts and whether it needs one of
// its own: isolated writers do, and whoever depends on one of them, or on several
// of whom one holds the work of all, so that it sees what those writers did.
func (r *run) baseOf(j *spec.Job, route ledger.Route) (commit string, own bool) {
	own = route.Isolation == isolationWorktree
	if j.GoesOn() {
		return r.leftAt(j), own
	}
	writer, several := r.plan.Graph.BaseOf(j.ID, r.builtOn)
	if writer != "" {
		if c, ok := r.snapshot(writer); ok {
			return c, true
		}
	}
	if writer, _ := r.plan.Graph.BaseOf(j.ID, r.lasts); writer != "" && own && several == nil {
		if c, ok := r.snapshot(writer); ok { // it worked in the shared checkout
			return c, true
		}
	}
	return r.plan.Base, own
}

// isolated reports whether a job works in a tree of its own, on the route that it
// has by now.
func (r *run) isolated(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	j, ok := r.jobs[id]
	return ok && j.route.Isolation == isolationWorktree
}

func (r *run) worktree(ctx context.Context, j *spec.Job, base string, n int) (place, error) {
	repo := r.plan.Repo
	if repo == nil {
		return place{}, fmt.Errorf("job %s needs a worktree, and %s is not in a git repository", j.ID, r.plan.Root)
	}
	rel, err := filepath.Rel(repo.Top(), j.Cwd)
	if err != nil || !filepath.IsLocal(rel) {
		return place{}, fmt.Errorf("job %s needs a worktree, and its cwd %s is outside the repository %s", j.ID, j.Cwd, repo.Top())
	}
	dir := filepath.Join(r.treeRoot, ledger.TreeName(j.ID, n))
	done := r.under(j.ID, ledger.StepWorktree, "")
	tree, err := r.addTree(ctx, j, dir, base, n)
	done()
	if err != nil {
		return place{}, err
	}
	at := place{dir: filepath.Join(dir, rel), top: dir, tree: tree, isolated: true, branch: tree.Branch}
	if _, err := os.Stat(at.dir); errors.Is(err, os.ErrNotExist) {
		return at, fmt.Errorf("job %s: its cwd %s is not in commit %.12s that its worktree starts from; commit it or change cwd", j.ID, rel, base)
	}
	return at, at.inTree(j.ID)
}

// otherNames is how many other names an attempt's branch may try.
const otherNames = 8

// addTree makes the worktree of attempt n of a job. Where somebody has made a branch
// since that is in the way of its own, that one is left alone and the attempt's gets
// another first component.
func (r *run) addTree(ctx context.Context, j *spec.Job, dir, base string, n int) (*workspace.Tree, error) {
	if !j.Writes() {
		return r.plan.Repo.AddWorktree(ctx, dir, "", base) // it leaves nothing behind that needs a branch
	}
	return r.onBranch(j, n, func(branch string) (*workspace.Tree, error) {
		return r.plan.Repo.AddWorktree(ctx, dir, branch, base)
	})
}

// onBranch makes the tree of attempt n of a job on a branch for it, whose name is free.
func (r *run) onBranch(j *spec.Job, n int, add func(branch string) (*workspace.Tree, error)) (*workspace.Tree, error) {
	wanted := ledger.BranchName(r.branchPrefix, r.led.ID, j.ID, n)
	tree, err := add(wanted)
	for k := 2; errors.Is(err, workspace.ErrBranchExists) && k < 2+otherNames; k++ {
		other := ledger.BranchName(fmt.Sprintf("%s-%d", r.branchPrefix, k), r.led.ID, j.ID, n)
		if tree, err = add(other); err == nil {
			r.note(ledger.Noted(j.ID, fmt.Sprintf("attempt %d works on branch %s, since something is in the way of %s; that was left alone", n, other, wanted)))
		}
	}
	return tree, err
}

// nameBranches chooses the first component of the run's branches: that of its earlier
// attempts, if there were any.
func (r *run) nameBranches(ctx context.Context) (err error) {
	if r.plan.Repo == nil {
		return nil
	}
	if r.branchPrefix = r.recordedPrefix(); r.branchPrefix == "" {
		r.branchPrefix, err = r.plan.Repo.BranchPrefix(ctx, r.led.ID)
	}
	return err
}

func (r *run) recordedPrefix() string {
	for _, id := range r.plan.Graph.Order() {
		var names []string
		if a := r.carried[id]; a != nil {
			names = append(names, a.at.branch)
		}
		for _, s := range r.jobs[id].ended {
			names = append(names, orEmpty(s.Branch))
		}
		for _, name := range names {
			if prefix, _, ok := strings.Cut(name, "/"+r.led.ID+"/"); ok {
				return prefix
			}
		}
	}
	return ""
}

// inTree refuses a working folder that a symbolic link in the commit, perhaps planted by an
// earlier job, leads out of the tree.
func (p place) inTree(job string) error {
	top, err := filepath.EvalSymlinks(p.top)
	if err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(p.dir)
	if err == nil && !inside(top, dir) {
		err = fmt.Errorf("job %s: its cwd leads out of its worktree, to %s, by a symbolic link in the commit that it starts from", job, dir)
	}
	return err
}
