package workspace

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// Relink makes sure that the tree's .git is what git made of it: whoever works there can
// write another one, which would lead a person's git elsewhere, to a configuration that
// runs programs. It reports whether it had to be put back. What was there instead is
// gone: no file of the work, but a repository of somebody's own perhaps. The shared
// checkout is left as it is. The submodules that the tree was given are looked after too.
func (t *Tree) Relink() (changed bool, err error) {
	if t.shared {
		return false, nil
	}
	if changed, err = t.relink(); err != nil {
		return changed, err
	}
	given, err := t.submodules()
	for _, sub := range given {
		there, err := t.has(sub.Dir)
		if err != nil {
			return changed, err
		}
		if !there {
			continue
		}
		again, err := sub.relink()
		if changed = changed || again; err != nil {
			return changed, err
		}
	}
	return changed, err
}

func (t *Tree) relink() (changed bool, err error) {
	link := filepath.Join(t.Dir, ".git")
	want := []byte("gitdir: " + filepath.ToSlash(t.git.gitDir) + "\n")
	info, err := os.Lstat(link)
	if err == nil && info.Mode().IsRegular() && info.Size() < 1<<16 {
		if is, err := os.ReadFile(link); err == nil && (bytes.Equal(is, want) || t.relative(is)) {
			return false, nil
		}
	}
	if err := os.RemoveAll(link); err != nil {
		return true, fmt.Errorf("the .git of %s is not what git made of it, and cannot be put back: %w", t.Dir, err)
	}
	if err := os.WriteFile(link, want, 0o644); err != nil {
		return true, fmt.Errorf("the .git of %s is not what git made of it, and cannot be put back: %w", t.Dir, err)
	}
	return true, nil
}

// relative reports whether a .git file names the tree's git directory from the tree, as
// git does where worktree.useRelativePaths is set.
func (t *Tree) relative(link []byte) bool {
	to, ok := bytes.CutPrefix(bytes.TrimSuffix(link, []byte("\n")), []byte("gitdir: "))
	named := filepath.FromSlash(string(to))
	return ok && !filepath.IsAbs(named) && filepath.Join(t.Dir, named) == t.git.gitDir
}
