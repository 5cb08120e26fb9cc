package workspace

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// inTheWay are the files of a checkout without changes that a move would write over or
// remove although they are in no commit: those that git ignores, which it overwrites
// without a word, and those that it was told not to look at.
func (r *Repo) inTheWay(ctx context.Context, from, to string) ([]string, error) {
	changes, err := r.git.compare(ctx, from, to)
	if err != nil {
		return nil, err
	}
	unseen, err := r.unwatched(ctx)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{} // files that make room
	for _, c := range changes {
		if c.Status == "D" {
			gone[c.Path] = true
		}
	}
	var blocked []string
	for _, c := range changes {
		if unseen[c.Path] {
			blocked = append(blocked, c.Path)
		}
		if c.Status != "A" {
			continue
		}
		at, err := r.occupied(c.Path, gone)
		if err != nil {
			return nil, err
		}
		blocked = append(blocked, at...)
	}
	slices.Sort(blocked)
	return slices.Compact(blocked), nil
}

// occupied is what lies where a file is going to be: the file itself, one in the place of
// a folder above it, or files in a folder of its name.
func (r *Repo) occupied(name string, gone map[string]bool) (files []string, err error) {
	for at := name; at != "."; at = path.Dir(at) {
		info, err := os.Lstat(filepath.Join(r.Top(), filepath.FromSlash(at)))
		switch {
		case absent(err):
			continue
		case err != nil:
			return nil, err
		case info.IsDir() && at != name, gone[at]:
			continue
		case !info.IsDir():
			return []string{at}, nil
		}
		return r.others(at, gone)
	}
	return nil, nil
}

// others are the files below a folder that do not make room.
func (r *Repo) others(dir string, gone map[string]bool) (files []string, err error) {
	err = filepath.WalkDir(filepath.Join(r.Top(), filepath.FromSlash(dir)), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(r.Top(), p)
		if rel = filepath.ToSlash(rel); err == nil && !gone[rel] {
			files = append(files, rel)
		}
		return err
	})
	return files, err
}

// unwatched are the files that git was told not to look at (git update-index
// --assume-unchanged or --skip-worktree) and that are there all the same.
func (r *Repo) unwatched(ctx context.Context) (map[string]bool, error) {
	out, err := r.git.run(ctx, "ls-files", "-v", "-z")
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, line := range fields(out) {
		if len(line) < 3 || line[0] == 'H' {
			continue
		}
		name := line[2:]
		if _, err := os.Lstat(filepath.Join(r.Top(), filepath.FromSlash(name))); err == nil && strings.ContainsRune("Shsmrck", rune(line[0])) {
			names[name] = true
		}
	}
	return names, nil
}

// Unwritable are the files that a move would write and that a filter driver of the
// person's or the repository's configuration makes: it does not run here.
func (r *Repo) Unwritable(ctx context.Context, from, to string) ([]string, error) {
	out, err := r.git.do(ctx, call{args: []string{"config", "-z", "--name-only", "--get-regexp", `^filter\..*\.(smudge|process)$`}, user: true})
	if code(err) == 1 {
		return nil, nil // there is none
	}
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, key := range fields(out) {
		there[key[len("filter."):strings.LastIndexByte(key, '.')]] = true
	}
	changes, err := r.git.compare(ctx, from, to)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range changes {
		if c.Status != "D" {
			names = append(names, c.Path)
		}
	}
	if names == nil {
		return nil, nil
	}
	by, err := r.git.filtered(ctx, to, names)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool { return !there[by[name]] }), nil
}
