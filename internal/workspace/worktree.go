package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/failpoint"
)

// baseIndex is our copy of a fresh worktree's index, beside git's own. An agent
// that got at git's could hide a change in it.
const baseIndex = "orchestrate-base-index"

// Tree is what one writer changes: a worktree of its own, or the shared checkout.
type Tree struct {
	Dir    string // absolute
	Branch string // "" for the shared checkout and for a tree without a branch
	Base   string // the commit (shared checkout: the tree) that changes are told from

	shared bool   // the user's own checkout
	common string // git directory of the repository; "" for the shared checkout
	git    git
	seed   string // index that describes Base
	parent string // parent of the snapshot commit
}

// AddWorktree checks sha out into the new folder dir on the new branch; an empty
// name makes a tree on no branch, for one that only looks. Nothing that is there is
// overwritten: a name that is taken or blocked is ErrBranchExists. After an error, of
// a cancelled context too, neither branch nor registration is left.
//
// Two trees of this Repo are made at a time: more gain nothing, since making files is
// what costs. They are registered one after the other, by all processes.
func (r *Repo) AddWorktree(ctx context.Context, dir, branch, sha string) (*Tree, error) {
	select {
	case r.making <- struct{}{}:
		defer func() { <-r.making }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	t, err := r.register(ctx, dir, branch, sha)
	if err != nil {
		return nil, err
	}
	failpoint.Hit(failpoint.TreeRegistered)
	if err := t.populate(ctx, r); err != nil {
		return nil, errors.Join(fmt.Errorf("filling the worktree %s: %w", dir, tooLong(dir, err)), r.abandon(ctx, t))
	}
	failpoint.Hit(failpoint.TreeAdded)
	return t, nil
}

// register makes a worktree without files. It waits for its turn when another is
// being registered: git reads what it has of all worktrees meanwhile, and fails on one
// that is half written.
func (r *Repo) register(ctx context.Context, dir, branch, sha string) (*Tree, error) {
	if err := PathFits(dir); err != nil {
		return nil, err
	}
	next := adding{Dir: dir, Branch: branch}
	lock, leave, err := r.turn(ctx, next)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := r.unused(dir); err != nil {
		return nil, err
	}
	args := []string{"worktree", "add", "--quiet", "--no-checkout", "--detach", "--", dir, sha}
	if branch != "" {
		if err := r.claim(ctx, branch, sha); err != nil {
			return nil, err
		}
		next.Claimed = sha
		if err := noteIn(lock, next); err != nil {
			return nil, errors.Join(err, r.withdraw(ctx, next))
		}
		args = []string{"worktree", "add", "--quiet", "--no-checkout", "--", dir, branch}
	}
	if _, err := r.git.do(ctx, call{args: args, lock: lock}); err != nil {
		return nil, errors.Join(fmt.Errorf("adding the worktree %s: %w", dir, tooLong(dir, err)), r.withdraw(ctx, next))
	}
	t, err := r.newTree(dir, branch, sha)
	if err != nil {
		return nil, errors.Join(err, r.withdraw(ctx, next))
	}
	return t, nil
}

// unused makes sure that dir is no worktree, and nothing that a person would miss.
func (r *Repo) unused(dir string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("the worktree's folder %s exists already and is not empty; nothing of it was touched; move it away and try again", dir)
	}
	all, err := r.Registrations()
	if err != nil {
		return err
	}
	for _, reg := range all {
		if filepath.Base(reg.Dir) == filepath.Base(dir) && reg.Names(dir) { // the first costs nothing, the second looks at links
			return fmt.Errorf("the worktree's folder %s is registered for a worktree already (%s), whose files are gone; nothing of it was touched; see: git worktree list", dir, reg.GitDir)
		}
	}
	return nil
}

// abandon is withdraw for a worktree that has been registered, and got some files.
func (r *Repo) abandon(ctx context.Context, t *Tree) error {
	ctx = context.WithoutCancel(ctx)
	failed := adding{Dir: t.Dir, Branch: t.Branch}
	_, leave, err := r.turn(ctx, failed)
	if err != nil {
		return err
	}
	defer leave()
	if t.Branch != "" {
		failed.Claimed = t.Base
	}
	return r.withdraw(ctx, failed)
}

// withdraw removes what was made of a worktree: there was nothing of it before, and
// nobody has worked in it yet.
func (r *Repo) withdraw(ctx context.Context, failed adding) error {
	errs := []error{r.mend(failed)}
	all, err := r.Registrations()
	errs = append(errs, err)
	for _, reg := range all {
		if reg.Names(failed.Dir) {
			errs = append(errs, os.RemoveAll(reg.GitDir))
		}
	}
	if folder(failed.Dir) == nil {
		errs = append(errs, os.RemoveAll(failed.Dir))
	}
	return errors.Join(append(errs, r.disclaim(context.WithoutCancel(ctx), failed))...)
}

// newTree learns where git keeps a worktree while its files are still ours.
func (r *Repo) newTree(dir, branch, sha string) (*Tree, error) {
	link, err := os.ReadFile(filepath.Join(dir, ".git"))
	if err != nil {
		return nil, fmt.Errorf("the new worktree: %w", err)
	}
	gitDir, ok := strings.CutPrefix(strings.TrimSuffix(string(link), "\n"), "gitdir: ")
	if !ok {
		return nil, fmt.Errorf("the new worktree %s: its .git file is not a link to a git directory", dir)
	}
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(dir, gitDir)
	}
	return r.treeAt(TreePlace{Dir: dir, GitDir: gitDir, Branch: branch, Base: sha}), nil
}

// populate writes the files into a registered worktree. This costs least of what git
// has for it; nothing of other worktrees is read.
func (t *Tree) populate(ctx context.Context, r *Repo) error {
	g, err := t.git.inert(ctx)
	if err != nil {
		return err
	}
	if _, err := g.run(ctx, "read-tree", "-m", "-u", t.Base); err != nil {
		return err
	}
	if err := copyIndex(filepath.Join(t.git.gitDir, "index"), t.seed); err != nil {
		return err
	}
	return t.fillSubmodules(ctx, r)
}
