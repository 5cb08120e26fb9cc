package engine

import (
	"path/filepath"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/workspace"
)

// treesOf says where the worktrees of the run in a run directory go.
func (e *Engine) treesOf(runDir string) string {
	root := e.Operator.WorktreeRoot
	if root == "" {
		return filepath.Join(runDir, ledger.WorktreesDir)
	}
	if home, ok := strings.CutPrefix(root, "~/"); ok {
		root = filepath.Join(environ.Value(e.Env, "HOME"), home)
	}
	return filepath.Join(root, filepath.Base(runDir))
}

// The longest names that the plan reckons with: no run has its folder yet, and a job may
// need several attempts.
const (
	someRun      = "orchestrate-20060102-150405-99"
	someAttempts = 10
)

// tooDeep blocks a job whose worktree would have a path that is too long for the system.
func (e *Engine) tooDeep(p *Plan, pl *Planned) *route.Block {
	if pl.Route.Isolation != isolationWorktree {
		return nil
	}
	trees := e.treesOf(filepath.Join(p.Root, filepath.FromSlash(ledger.ReportsDir), someRun))
	if err := workspace.PathFits(filepath.Join(trees, ledger.TreeName(pl.Job.ID, someAttempts))); err != nil {
		return &route.Block{
			Reason: runtime.BlockedNoRoute, Detail: err.Error(),
			NextStep: "set worktree_root in the operator configuration to a folder with a shorter path",
		}
	}
	return nil
}
