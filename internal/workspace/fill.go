package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// filledFile, in a worktree's git directory, says which submodules it was given.
const filledFile = "orchestrate-submodules.json"

// filled is a submodule that a worktree was given. It has a git directory of its own
// below the worktree's, as git itself does it, so that git works in it and cannot write
// to the person's. Of theirs only objects are borrowed: neither configuration nor hooks.
type filled struct {
	Path   string `json:"path"`   // slashes, from the top of the worktree
	GitDir string `json:"gitDir"` // slashes, from the worktree's git directory
	Commit string `json:"commit"`
}

// fillSubmodules gives a fresh worktree the files of its submodules, as far as their
// objects are on this machine; the others stay empty, as git leaves them.
func (t *Tree) fillSubmodules(ctx context.Context, r *Repo) error {
	for _, sign := range []string{
		filepath.Join(t.Dir, ".gitmodules"),
		filepath.Join(t.git.gitDir, "info", "sparse-checkout"), // it may leave that one out
	} {
		_, err := os.Lstat(sign)
		if err == nil {
			return t.fillAll(ctx, r)
		}
		if !absent(err) {
			return err
		}
	}
	return nil
}

func (t *Tree) fillAll(ctx context.Context, r *Repo) error {
	all, err := r.submodules(ctx, t.Base)
	if err != nil || len(all) == 0 {
		return err
	}
	config, err := r.moduleConfig(ctx)
	if err != nil {
		return err
	}
	f := filling{tree: t, config: config}
	if err := f.fill(ctx, all, t.git.gitDir); err != nil {
		return err
	}
	data, err := json.Marshal(f.done)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.git.gitDir, filledFile), data, 0o600)
}

// moduleConfig is the configuration of the git directories that we make for submodules:
// what decides how files are written here.
func (r *Repo) moduleConfig(ctx context.Context) (string, error) {
	out, err := r.git.run(ctx, "config", "-z", "--get-regexp", `^core\.(filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol)$`)
	if err != nil && code(err) != 1 { // 1 = none
		return "", err
	}
	var b strings.Builder
	b.WriteString("[core]\n\tbare = false\n")
	for _, entry := range fields(out) {
		key, value, said := strings.Cut(entry, "\n")
		if !said {
			value = "true"
		}
		fmt.Fprintf(&b, "\t%s = %s\n", strings.TrimPrefix(key, "core."), quoted(value))
	}
	return b.String(), nil
}

// filling is the work of giving one worktree its submodules.
type filling struct {
	tree   *Tree
	config string
	done   []filled
}

func (f *filling) fill(ctx context.Context, all []Submodule, above string) error {
	for _, m := range all {
		if m.store == "" {
			continue
		}
		dir := filepath.Join(f.tree.Dir, filepath.FromSlash(m.Path))
		ready, err := f.empty(dir)
		if err != nil {
			return err
		}
		if !ready { // the sparse checkout leaves it out
			continue
		}
		gitDir := filepath.Join(above, "modules", url.PathEscape(m.name))
		if err := f.fillOne(ctx, m, dir, gitDir); err != nil {
			return fmt.Errorf("filling the submodule %s: %w", m.Path, err)
		}
		if err := f.fill(ctx, m.below, gitDir); err != nil {
			return err
		}
	}
	return nil
}

// empty reports whether a submodule's folder is there, empty, and inside the tree.
func (f *filling) empty(dir string) (bool, error) {
	there, err := f.tree.has(dir)
	if err != nil || !there {
		return false, err
	}
	files, err := os.ReadDir(dir)
	return len(files) == 0, err
}

// has reports whether a folder below the tree is there, and no link leads it elsewhere.
func (t *Tree) has(dir string) (bool, error) {
	info, err := os.Stat(dir)
	if absent(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	rel, err := filepath.Rel(t.Dir, dir)
	if err != nil {
		return false, err
	}
	is, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false, err
	}
	top, err := filepath.EvalSymlinks(t.Dir)
	return err == nil && info.IsDir() && is == filepath.Join(top, rel), err
}

func (f *filling) fillOne(ctx context.Context, m Submodule, dir, gitDir string) error {
	if err := f.makeGitDir(m, gitDir); err != nil {
		return err
	}
	link := "gitdir: " + filepath.ToSlash(gitDir) + "\n"
	if err := os.WriteFile(filepath.Join(dir, ".git"), []byte(link), 0o644); err != nil {
		return err
	}
	rel, err := filepath.Rel(f.tree.git.gitDir, gitDir)
	if err != nil {
		return err
	}
	one := filled{Path: m.Path, GitDir: filepath.ToSlash(rel), Commit: m.Commit}
	sub := f.tree.filledTree(one)
	if _, err := sub.git.run(ctx, "read-tree", "--reset", "-u", m.Commit); err != nil {
		return err
	}
	if err := copyIndex(filepath.Join(gitDir, "index"), sub.seed); err != nil {
		return err
	}
	f.done = append(f.done, one)
	return nil
}

// makeGitDir makes the git directory of a submodule.
func (f *filling) makeGitDir(m Submodule, gitDir string) error {
	if err := os.MkdirAll(filepath.Dir(gitDir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(gitDir, 0o755); err != nil { // two names that are one here
		return err
	}
	for _, name := range []string{"refs/heads", "refs/tags", "objects/info", "objects/pack"} {
		if err := os.MkdirAll(filepath.Join(gitDir, filepath.FromSlash(name)), 0o755); err != nil {
			return err
		}
	}
	files := map[string]string{
		"HEAD":                    m.Commit + "\n",
		"config":                  f.config + formatOf(m.Commit),
		"objects/info/alternates": quoted(filepath.ToSlash(m.store)) + "\n",
	}
	shallow, err := os.ReadFile(filepath.Join(filepath.Dir(m.store), "shallow"))
	if err == nil {
		files["shallow"] = string(shallow) // or its history would seem broken
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(gitDir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// formatOf is the configuration that says how objects are named.
func formatOf(commit string) string {
	if len(commit) == 64 {
		return "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
	}
	return "\trepositoryformatversion = 0\n"
}

// filledTree is a filled submodule as a tree of its own.
func (t *Tree) filledTree(f filled) *Tree {
	gitDir := filepath.Join(t.git.gitDir, filepath.FromSlash(f.GitDir))
	dir := filepath.Join(t.Dir, filepath.FromSlash(f.Path))
	return &Tree{
		Dir: dir, Base: f.Commit, parent: f.Commit, common: gitDir,
		git:  git{gitDir: gitDir, workTree: dir, config: t.git.config, scratch: t.git.scratch},
		seed: filepath.Join(gitDir, baseIndex),
	}
}

// submodules are the submodules that the worktree was given, by their paths.
func (t *Tree) submodules() (map[string]*Tree, error) {
	if t.shared {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Join(t.git.gitDir, filledFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []filled
	if err = errors.Join(err, json.Unmarshal(data, &all)); err != nil {
		return nil, fmt.Errorf("which submodules %s was given cannot be read: %w", t.Dir, err)
	}
	given := make(map[string]*Tree, len(all))
	for _, f := range all {
		if !within(f.Path) || !within(f.GitDir) {
			return nil, fmt.Errorf("which submodules %s was given cannot be read: %q is no path below it", t.Dir, f.Path)
		}
		given[f.Path] = t.filledTree(f)
	}
	return given, nil
}
