package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/planner"
	"orchestrate/internal/workspace"
)

// mostOutlined bounds how many files of the workspace are looked at for its outline.
const mostOutlined = 20_000

// outline tells a planner what there is in the workspace: names and sizes of what git has
// or would have, else of what is not hidden.
func (p *Plan) outline(ctx context.Context) (string, error) {
	var o planner.Outline
	_, err := workspace.Top(ctx, p.Root)
	switch {
	case p.Repo != nil:
		err = p.outlineRepo(ctx, &o)
	case err == nil:
		o.Git = "a git repository in which nothing can be worked on yet (" + p.noTree + "); its files are not listed"
	default:
		err = outlineFolder(ctx, p.Root, &o)
	}
	return o.String(), err
}

func (p *Plan) outlineRepo(ctx context.Context, o *planner.Outline) error {
	o.Git = fmt.Sprintf("a git repository at commit %.12s", p.Base)
	if len(p.Dirty) > 0 {
		o.Git += fmt.Sprintf(", %d files not committed, which jobs in worktrees do not see", len(p.Dirty))
	}
	n, seen := 0, map[string]bool{}
	add := func(name string) {
		if n++; n > mostOutlined {
			o.Partial = true
			return
		}
		if info, err := os.Lstat(filepath.Join(p.Repo.Top(), filepath.FromSlash(name))); err == nil && info.Mode().IsRegular() && !seen[name] {
			seen[name] = true
			o.Add(name, info.Size())
		}
	}
	for _, name := range p.Dirty {
		add(name)
	}
	return p.Repo.FilesAt(ctx, p.Base, add)
}

func outlineFolder(ctx context.Context, root string, o *planner.Outline) error {
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil: // nobody has to be able to read everything here
			o.Partial = true
			return skipped(d)
		case path == root:
			return nil
		case strings.HasPrefix(d.Name(), "."), name == ledger.ReportsDir:
			return skipped(d)
		}
		if n++; n > mostOutlined {
			o.Partial = true
			return fs.SkipAll
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			o.Add(name, info.Size())
		}
		return nil
	})
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

func skipped(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}
