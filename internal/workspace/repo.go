package workspace

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// ErrNotRepo says that a folder is in no git repository.
var ErrNotRepo = errors.New("not a git repository")

// ErrNoCommit says that a repository has no commit to start from.
var ErrNoCommit = errors.New("the repository has no commit yet; make one first, for example: git commit --allow-empty -m start")

// Repo is the user's checkout. It is safe for concurrent use.
type Repo struct {
	git    git           // of the user's checkout
	common string        // git directory shared by all worktrees
	adding chan struct{} // holds the one of us that registers a worktree
	making chan struct{} // holds the two of us that make one
}

// Top is the absolute path of the checkout that holds dir, also of one without a
// commit. ErrNotRepo is returned when there is none; a bare repository is refused.
func Top(ctx context.Context, dir string) (string, error) {
	lines, err := discover(ctx, dir)
	if err != nil {
		return "", err
	}
	return lines[0], nil
}

// Open finds the repository that holds dir. ErrNotRepo is returned when there is
// none, ErrNoCommit when it is empty; a bare repository is refused.
func Open(ctx context.Context, dir string) (*Repo, error) {
	lines, err := discover(ctx, dir)
	if err != nil {
		return nil, err
	}
	r := &Repo{git: git{gitDir: lines[1], workTree: lines[0]}, common: lines[2], adding: make(chan struct{}, 1), making: make(chan struct{}, 2)}
	if r.git.config, err = userSettings(ctx, dir); err != nil {
		return nil, err
	}
	if _, err := r.Resolve(ctx, "HEAD"); err != nil {
		return nil, err
	}
	return r, nil
}

// discover asks git where the repository is: its checkout, the git directory of that, and
// the one that all worktrees share. The user's own configuration is
// read here and only here, because it says which owners of a repository the user
// trusts (safe.directory); finding a repository runs nothing.
func discover(ctx context.Context, dir string) ([]string, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("git is not on PATH; install it and try again")
	}
	g := git{workTree: dir}
	out, err := g.do(ctx, call{
		args: []string{"rev-parse", "--path-format=absolute", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"},
		user: true,
	})
	if err == nil {
		lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if len(lines) != 3 {
			return nil, fmt.Errorf("%s: a repository at a path with a newline is not supported; rename the folder", dir)
		}
		return lines, nil
	}
	text := err.Error()
	switch {
	case strings.Contains(text, "not a git repository"):
		return nil, fmt.Errorf("%s: %w", dir, ErrNotRepo)
	case strings.Contains(text, "must be run in a work tree"):
		return nil, fmt.Errorf("%s is a bare repository or inside a .git folder; run from a checkout of it (git worktree add)", dir)
	}
	return nil, fmt.Errorf("%s: %w", dir, err)
}

// userSettings keeps what decides what a file is to the user's own git: what is ignored
// everywhere, for editor files of the person are no work of a job, and how line ends
// and attributes are taken, or what nobody changed would seem changed. Git itself reads
// each again as it is written here.
func userSettings(ctx context.Context, dir string) ([]string, error) {
	out, err := git{workTree: dir}.do(ctx, call{
		args: []string{"config", "-z", "--get-regexp", `^core\.(excludesfile|attributesfile|autocrlf|eol)$`},
		user: true,
	})
	if err != nil && code(err) != 1 { // 1 = none is set
		return nil, err
	}
	var all []string
	for _, entry := range fields(out) {
		key, value, said := strings.Cut(entry, "\n")
		if said {
			key += "=" + value // without a value it is true, for git too
		}
		all = append(all, key)
	}
	return all, nil
}

// KeepIn names the folder for temporary files, from then on also of the trees: one
// that whoever comes after a crash cleans up. Call it before anything else.
func (r *Repo) KeepIn(dir string) { r.git.scratch = dir }

// Top is the absolute path of the checkout.
func (r *Repo) Top() string { return r.git.workTree }

// Resolve turns a revision into the SHA of its commit.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	out, err := r.git.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	if code(err) < 0 {
		return "", err
	}
	if rev == "HEAD" {
		return "", ErrNoCommit
	}
	return "", fmt.Errorf("%q names no commit in %s; see: git log --oneline --all", rev, r.Top())
}

// Has says whether the repository holds an object, named by its whole SHA.
func (r *Repo) Has(ctx context.Context, sha string) (bool, error) {
	_, err := r.git.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", sha+"^{object}")
	if code(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// Dirty lists the paths of the checkout, with slashes and relative to Top, that
// differ from HEAD or are untracked. A worktree does not see those changes.
func (r *Repo) Dirty(ctx context.Context) ([]string, error) {
	g, err := r.git.inert(ctx)
	if err != nil {
		return nil, err
	}
	out, err := g.run(ctx, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, entry := range fields(out) {
		if len(entry) > 3 {
			paths = append(paths, entry[3:])
		}
	}
	return paths, nil
}

// GitDir is the absolute path of the git directory that all worktrees share.
func (r *Repo) GitDir() string { return r.common }
