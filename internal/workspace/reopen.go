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

// ErrTreeGone says that a worktree cannot be worked with any more: its folder or
// what git had registered of it is missing.
var ErrTreeGone = errors.New("the worktree is gone")

// TreePlace is what must be recorded of a worktree so that another process can
// open it again.
type TreePlace struct {
	Dir    string // absolute
	GitDir string // what git keeps of it, below the repository's git directory
	Branch string // "" = on none
	Base   string // commit
}

// Place is where a worktree is.
func (t *Tree) Place() TreePlace {
	return TreePlace{Dir: t.Dir, GitDir: t.git.gitDir, Branch: t.Branch, Base: t.Base}
}

// OpenTree is the worktree that an earlier process added. It goes by what was
// recorded then; no file below the worktree is read, since an agent may have
// written it. ErrTreeGone is returned when nothing can be captured there.
func (r *Repo) OpenTree(ctx context.Context, at TreePlace) (*Tree, error) {
	if filepath.Dir(filepath.Clean(at.GitDir)) != filepath.Join(r.common, "worktrees") {
		return nil, fmt.Errorf("the worktree %s was recorded with the git directory %s, which is none of %s", at.Dir, at.GitDir, r.Top())
	}
	if err := folder(at.Dir); err != nil {
		return nil, fmt.Errorf("%w: %s (registered in %s): %w", ErrTreeGone, at.Dir, at.GitDir, err)
	}
	if err := r.registered(at); err != nil {
		return nil, fmt.Errorf("%w: %s is no worktree for git any more, its files are kept (it was registered in %s): %w", ErrTreeGone, at.Dir, at.GitDir, err)
	}
	there, err := r.Has(ctx, at.Base)
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, fmt.Errorf("%w: the commit %s that %s started from is not in %s", ErrTreeGone, at.Base, at.Dir, r.Top())
	}
	return r.treeAt(at), nil
}

// treeAt is the worktree at a place.
func (r *Repo) treeAt(at TreePlace) *Tree {
	gitDir := filepath.Clean(at.GitDir)
	return &Tree{
		Dir: at.Dir, Branch: at.Branch, Base: at.Base, parent: at.Base, common: r.common,
		git:  git{gitDir: gitDir, workTree: at.Dir, config: r.git.config, scratch: r.git.scratch},
		seed: filepath.Join(gitDir, baseIndex),
	}
}

// folder makes sure that path is a folder, and no link to one.
func folder(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = errors.New("not a folder")
	}
	return err
}

// registered makes sure that git's registration is whole and is of that folder
// and this repository.
func (r *Repo) registered(at TreePlace) error {
	if err := folder(at.GitDir); err != nil {
		return err
	}
	for _, name := range []string{"HEAD", baseIndex} {
		if _, err := os.Lstat(filepath.Join(at.GitDir, name)); err != nil {
			return err
		}
	}
	if err := names(at.GitDir, "commondir", r.common); err != nil {
		return err
	}
	return names(at.GitDir, "gitdir", filepath.Join(at.Dir, ".git"))
}

// names makes sure that a file of a registration names a path; git writes it
// absolute or from the registration's folder, with links in the folders before it
// followed.
func names(gitDir, file, path string) error {
	data, err := os.ReadFile(filepath.Join(gitDir, file))
	if err != nil {
		return err
	}
	named := filepath.FromSlash(strings.TrimSpace(string(data)))
	if !filepath.IsAbs(named) {
		named = filepath.Join(gitDir, named)
	}
	is, err := resolved(named)
	if err != nil {
		return err
	}
	want, err := resolved(path)
	if err != nil {
		return err
	}
	if is != want {
		return fmt.Errorf("its %s names %s", file, named)
	}
	return nil
}

// resolved follows the links in the folders before a path's last part. That and folders
// before it may be missing.
func resolved(path string) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		dir, err = resolved(filepath.Dir(path))
	}
	return filepath.Join(dir, filepath.Base(path)), err
}

// Resolved is a path without the links in the folders before its last part. That and
// folders before it may be missing.
func Resolved(path string) (string, error) { return resolved(path) }
