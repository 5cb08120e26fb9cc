package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// inSubmodules lists the submodules of a worktree in which something is not as it was
// given, and what that is. git records a submodule by its commit only, and would have to
// ask one that an agent may have planted.
func (t *Tree) inSubmodules(ctx context.Context, ix *index) (names []string, files []Change, err error) {
	if t.shared {
		return nil, nil, nil // the person's submodules hold files as a rule
	}
	odd, err := ix.entries(ctx)
	if err != nil {
		return nil, nil, err
	}
	return t.inLinks(ctx, odd)
}

// inLinks is inSubmodules with what the index says of them.
func (t *Tree) inLinks(ctx context.Context, odd []entry) (names []string, files []Change, err error) {
	given, err := t.submodules()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		inside, err := t.inSubmodule(ctx, name, given[name])
		if err != nil {
			return nil, nil, fmt.Errorf("the submodule %s: %w", name, err)
		}
		if len(inside) > 0 {
			names, files = append(names, name), append(files, inside...)
		}
	}
	for _, name := range linksOf(odd) {
		if given[name] != nil {
			continue
		}
		inside, err := os.ReadDir(filepath.Join(t.Dir, filepath.FromSlash(name)))
		if err != nil && !absent(err) {
			return nil, nil, err
		}
		if len(inside) > 0 { // git leaves it empty
			names, files = append(names, name), append(files, Change{Path: name, Status: "M"})
		}
	}
	return names, files, nil
}

// inSubmodule lists what is not as it was given in one submodule. One that is gone is
// a change of the repository around it.
func (t *Tree) inSubmodule(ctx context.Context, name string, sub *Tree) (files []Change, err error) {
	there, err := t.has(sub.Dir)
	if err != nil || !there {
		return nil, err
	}
	ix, tree, err := sub.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ix.remove()) }()
	if files, err = sub.changes(ctx, tree); err != nil {
		return nil, err
	}
	for i := range files {
		files[i].Path = path.Join(name, files[i].Path)
	}
	head, err := os.ReadFile(filepath.Join(sub.git.gitDir, "HEAD"))
	if err == nil && string(head) != sub.Base+"\n" {
		files = append(files, Change{Path: name, Status: "M"}) // at a commit that nobody else has
	}
	return files, err
}

// unseen lists the submodules of a worktree in which something is not as it was given.
func (t *Tree) unseen(ctx context.Context, ix *index) ([]string, error) {
	names, _, err := t.inSubmodules(ctx, ix)
	return names, err
}
