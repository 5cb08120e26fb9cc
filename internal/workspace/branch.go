package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrBranchExists says that a branch cannot have the wanted name: it is there already,
// or something that is there is in its way.
var ErrBranchExists = errors.New("the branch exists already")

// claim makes the branch, unless it exists or a worktree is on it, be it one whose
// branch or files are gone. What a name claims was made here.
func (r *Repo) claim(ctx context.Context, branch, sha string) error {
	holder, err := r.holder(branch)
	if err != nil {
		return err
	}
	if holder != "" {
		return fmt.Errorf("%w: %s, checked out in %s; nothing of it was touched; %s", ErrBranchExists, branch, holder, wayOut(branch))
	}
	// Whoever cancels it could not know whether the branch is theirs.
	_, err = r.git.run(context.WithoutCancel(ctx), "update-ref", "-m", "orchestrate: worktree", "refs/heads/"+branch, sha, "")
	if err != nil && inTheWay(err.Error()) {
		return fmt.Errorf("%w: %s; nothing of it was touched; %s: %w", ErrBranchExists, branch, wayOut(branch), err)
	}
	return err
}

// inTheWay reports whether git could not make a branch because of what is there: the
// branch itself, also a damaged one, one above or below it, or the lock on it.
func inTheWay(said string) bool {
	return strings.Contains(said, "exists") || strings.Contains(said, "reference broken")
}

func wayOut(branch string) string {
	return "look at it with: git log " + branch + " -- and move it out of the way with: git branch -m " + branch + " NEW-NAME"
}

// holder is the worktree that has the branch checked out, or "". Names that differ in
// case only are one: they may be one file.
func (r *Repo) holder(branch string) (string, error) {
	all, err := r.Registrations()
	if err != nil {
		return "", err
	}
	main := registration(r.common)
	main.Dir = filepath.Dir(r.common)
	for _, reg := range append(all, main) {
		if reg.Branch != "" && strings.EqualFold(reg.Branch, branch) {
			return reg.Dir, nil
		}
	}
	return "", nil
}

// BranchPrefix is the first component of the branches of a run: orchestrate, or
// another where a branch or a file is in the way of all branches of that name.
func (r *Repo) BranchPrefix(ctx context.Context, run string) (string, error) {
	out, err := r.git.run(ctx, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/")
	if err != nil {
		return "", err
	}
	all, err := r.Registrations()
	if err != nil {
		return "", err
	}
	names := strings.Split(string(out), "\n")
	for _, reg := range all { // a branch that is gone, or that has no commit yet
		names = append(names, reg.Branch)
	}
	prefix := "orchestrate"
	for n := 2; blocked(names, prefix, run) || r.obstructed(prefix, run); n++ {
		prefix = fmt.Sprintf("orchestrate-%d", n)
	}
	return prefix, nil
}

// blocked reports whether one of these branches leaves no room below prefix/run, or
// writes the prefix in other letters, which some file systems take for the same.
func blocked(names []string, prefix, run string) bool {
	for _, name := range names {
		first, _, below := strings.Cut(name, "/")
		if strings.EqualFold(first, prefix) && (!below || first != prefix) || strings.EqualFold(name, prefix+"/"+run) {
			return true
		}
	}
	return false
}

// obstructed reports whether something that is no branch for git, such as a damaged
// one, is where the folder of the run's branches would be.
func (r *Repo) obstructed(prefix, run string) bool {
	heads := filepath.Join(r.common, "refs", "heads")
	for _, name := range []string{filepath.Join(heads, prefix), filepath.Join(heads, prefix, run)} {
		if _, err := os.Lstat(name); err == nil && folder(name) != nil {
			return true
		}
	}
	return false
}
