package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/pattern"
	"orchestrate/internal/spec"
)

// mostLookedThrough bounds the search for repositories below what a job owns. What is
// larger cannot be vouched for.
const mostLookedThrough = 50_000

// unboxed says why a sandbox cannot bound a writer in the shared checkout; "" = it can.
func (p *Plan) unboxed(j *spec.Job) string {
	if !j.Writes() || p.Repo == nil {
		return ""
	}
	_, err := p.ownedFolders(j)
	switch {
	case err == nil:
		return ""
	case !placedByItem(j):
		return err.Error()
	case j.Isolation == "none":
		return "" // its sandbox is drawn when the item is known, and refused then if need be
	}
	return "where it writes is known only when its item is"
}

// placedByItem reports whether an item that nobody knows yet says where a job writes.
func placedByItem(j *spec.Job) bool {
	return j.Item.Unknown() && slices.ContainsFunc(append([]string{j.Cwd}, j.OwnedPaths...), func(path string) bool {
		_, open := pattern.Mentions(path)
		return open
	})
}

// ownedFolders are the folders of the shared checkout that a writer has to be able to
// change for its owned paths: the deepest that are there, since files are also replaced.
// An error says why it cannot be let into them.
func (p *Plan) ownedFolders(j *spec.Job) ([]string, error) {
	cwd, err := filepath.EvalSymlinks(j.Cwd)
	if err != nil {
		return nil, err
	}
	owned := j.OwnedPaths
	if len(owned) == 0 {
		owned = []string{"**"}
	}
	var all []string
	for _, glob := range owned {
		dir, err := ownedFolder(cwd, glob)
		if err != nil {
			return nil, err
		}
		if err := p.mayOpen(dir, glob); err != nil {
			return nil, err
		}
		all = append(all, dir)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// ownedFolder is the deepest folder that is there of those that a pattern names. No
// link may lead it out of the cwd.
func ownedFolder(cwd, glob string) (string, error) {
	dir := cwd
	for _, part := range strings.Split(path.Clean(glob), "/") {
		if strings.ContainsAny(part, `*?[{\`) {
			break
		}
		next, err := filepath.EvalSymlinks(filepath.Join(dir, part))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", err
		}
		if !inside(cwd, next) {
			return "", fmt.Errorf("its owned path %s leads out of its folder, to %s, by a symbolic link", glob, next)
		}
		if info, err := os.Stat(next); err != nil || !info.IsDir() {
			return dir, err
		}
		dir = next
	}
	return dir, nil
}

// mayOpen refuses a folder in which git or this program keep what decides about more
// than the folder.
func (p *Plan) mayOpen(dir, glob string) error {
	for _, keep := range p.ours() {
		if inside(dir, keep) || inside(keep, dir) {
			return fmt.Errorf("for its owned path %s it would have to be let into %s, and with that to %s", glob, dir, keep)
		}
	}
	switch found, err := repositoryIn(dir); {
	case err != nil:
		return fmt.Errorf("for its owned path %s it would have to be let into %s: %w", glob, dir, err)
	case found != "":
		return fmt.Errorf("for its owned path %s it would have to be let into %s, and with that to the repository at %s", glob, dir, found)
	}
	return nil
}

// ours are the places in the shared checkout that no job may change.
func (p *Plan) ours() []string {
	top := p.Repo.Top()
	return []string{
		filepath.Join(top, ".git"), p.Repo.GitDir(),
		filepath.Join(p.Root, filepath.FromSlash(ledger.ReportsDir)), filepath.Join(p.Root, ".orchestrate"),
	}
}

var errTooMany = fmt.Errorf("it holds more than %d files, too many to look for repositories among them", mostLookedThrough)

// repositoryIn finds a repository below a folder, "" = there is none: what git does there
// for a person runs what its files say.
func repositoryIn(dir string) (found string, err error) {
	n := 0
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if n++; n > mostLookedThrough {
			return errTooMany
		}
		if err != nil {
			return err
		}
		if strings.EqualFold(e.Name(), ".git") {
			found = name
			return filepath.SkipAll
		}
		return nil
	})
	return found, err
}
