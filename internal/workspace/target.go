package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// detached is the ref that moves where no branch is checked out.
const detached = "HEAD"

// Head is what is checked out: a ref, HEAD itself where it is no branch, and its commit.
func (r *Repo) Head(ctx context.Context) (ref, commit string, err error) {
	out, err := r.git.run(ctx, "symbolic-ref", "--quiet", "HEAD")
	switch {
	case err == nil:
		ref = strings.TrimSpace(string(out))
	case code(err) == 1:
		ref = detached
	default:
		return "", "", err
	}
	commit, err = r.Resolve(ctx, "HEAD")
	return ref, commit, err
}

// BranchOf is the short name of a ref; "" when it is no branch.
func BranchOf(ref string) string {
	name, ok := strings.CutPrefix(ref, "refs/heads/")
	if !ok {
		return ""
	}
	return name
}

// unfinished are git's own notes of what a person has begun, and what ends it.
var unfinished = [][3]string{
	{"MERGE_HEAD", "a merge", "git commit, or git merge --abort"},
	{"rebase-merge", "a rebase", "git rebase --continue, or git rebase --abort"},
	{"rebase-apply", "a rebase or git am", "git rebase --continue or git am --continue, or the same with --abort"},
	{"CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --continue, or git cherry-pick --abort"},
	{"REVERT_HEAD", "a revert", "git revert --continue, or git revert --abort"},
	{"sequencer", "a cherry-pick or revert of several commits", "git cherry-pick --continue or git revert --continue, or the same with --abort"},
	{"BISECT_LOG", "a bisection", "git bisect reset"},
}

// Unfinished says what a person has begun in the checkout and not ended, with the
// commands that end it; "" = nothing.
func (r *Repo) Unfinished() (string, error) {
	for _, u := range unfinished {
		_, err := os.Lstat(filepath.Join(r.git.gitDir, u[0]))
		switch {
		case err == nil:
			return fmt.Sprintf("%s is under way in the checkout; end it first (%s)", u[1], u[2]), nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	return "", nil
}

// ErrBadBranch says that a name cannot be that of a new branch.
var ErrBadBranch = errors.New("no new branch can have this name")

// NewBranch makes sure that a branch of this name can be made.
func (r *Repo) NewBranch(ctx context.Context, name string) error {
	means, err := r.git.run(ctx, "check-ref-format", "--branch", name)
	if code(err) < 0 && err != nil {
		return err
	}
	if err != nil || name == "@" || strings.TrimSuffix(string(means), "\n") != name { // @ is HEAD, and @{-1} another branch
		return fmt.Errorf("%w: %q; git's rules for names are in git help check-ref-format", ErrBadBranch, name)
	}
	if strings.HasPrefix(name, "refs/") {
		return fmt.Errorf("%w: %q; give its short name, which is without refs/heads/", ErrBadBranch, name)
	}
	out, err := r.git.run(ctx, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/")
	if err != nil {
		return err
	}
	for _, has := range strings.Fields(string(out)) {
		if has == name || strings.HasPrefix(has, name+"/") || strings.HasPrefix(name, has+"/") {
			return fmt.Errorf("%w: the branch %s is there already; nothing of it was touched; choose another name", ErrBadBranch, has)
		}
	}
	return nil
}
