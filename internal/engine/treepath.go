package engine

import (
	"fmt"
	"os"
	"path/filepath"

	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/workspace"
)

// treesOf says where the worktrees of the run in a run directory go.
func (e *Engine) treesOf(runDir string) string {
	root := e.Operator.WorktreeRoot
	if root == "" {
		return filepath.Join(runDir, ledger.WorktreesDir)
	}
	return filepath.Join(e.atHome(root), filepath.Base(runDir))
}

// placesTrees refuses, before anything is dispatched, a worktree_root in which trees would
// be changes of the checkout or of its git directory, and one that cannot be made or
// written. Only the run directories, which is where trees are without one, are known for
// what they are wherever the checkout is looked at.
func (p *Plan) placesTrees(e *Engine) error {
	root := e.Operator.WorktreeRoot
	if p.Repo == nil || root == "" {
		return nil
	}
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("worktree_root: %s in the operator's configuration%s %s; name a folder outside the repository that you can write to, or leave it out",
			root, inFile(e.Operator.File), fmt.Sprintf(format, args...))
	}
	real, there, err := resolved(e.atHome(root))
	if err != nil {
		return refuse("cannot be used: %v", err)
	}
	switch {
	case inside(p.Repo.GitDir(), real):
		return refuse("is in the git directory %s", p.Repo.GitDir())
	case inside(p.Repo.Top(), real):
		return refuse("is in the checkout %s, where the worktrees would be changes of yours, whatever git ignores there", p.Repo.Top())
	}
	probe, err := os.MkdirTemp(there, ".orchestrate-") // whether it may be written, no other question answers everywhere
	if err == nil {
		err = os.Remove(probe)
	}
	if err != nil {
		return refuse("cannot be written: %v", err)
	}
	return nil
}

func inFile(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// resolved is a path without the symbolic links in it, and the folder on the way to it
// that is there already.
func resolved(path string) (real, there string, err error) {
	path = filepath.Clean(path)
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		_, err := os.Lstat(at)
		if err != nil && at != filepath.Dir(at) {
			rest = filepath.Join(filepath.Base(at), rest)
			continue
		}
		if err != nil {
			return "", "", err
		}
		if there, err = filepath.EvalSymlinks(at); err != nil {
			return "", "", err
		}
		info, err := os.Stat(there)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is no folder", at)
		}
		return filepath.Join(there, rest), there, err
	}
}

// The longest names that the plan reckons with: no run has its folder yet, and a job may
// need several attempts.
const (
	someRun      = "orchestrate-20060102-150405-99"
	someCall     = someRun + "-c9999"
	someAttempts = 10
)

// tooDeep blocks a job whose worktree would have a path that is too long for the system.
func (e *Engine) tooDeep(p *Plan, pl *Planned) *route.Block {
	if pl.Route.Isolation != isolationWorktree {
		return nil
	}
	trees := e.treesOf(p.someRun())
	if err := workspace.PathFits(filepath.Join(trees, ledger.TreeName(pl.Job.ID, someAttempts))); err != nil {
		return &route.Block{
			Reason: runtime.BlockedNoRoute, Detail: err.Error(),
			NextStep: "set worktree_root in the operator configuration to a folder with a shorter path",
		}
	}
	return nil
}
