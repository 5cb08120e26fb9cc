package engine

import (
	"fmt"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/shellword"
	"orchestrate/internal/workspace"
)

// A worktree in which several attempts went on with one session, one after the other, is the
// last writer's, on whose branch it is. Whoever only looked in it has left none.

// passOn settles whose the worktrees are that several attempts of the run worked in.
func (r *runLeft) passOn() {
	for i, t := range r.trees {
		if t.resumes == nil || t.resumes.Tree == "" {
			continue
		}
		if t.branch == "" { // it only looked
			t.dir, t.gitDir, t.passed = "", "", true
			continue
		}
		for _, before := range r.trees[:i] {
			before.passed = before.passed || before.dir == t.dir
		}
	}
}

// goneOnIn reports whether the worktree of an attempt is by now that of another run's job,
// which went on in it.
func (r *runLeft) goneOnIn(t *treeLeft, reg workspace.Registration) bool {
	return t.heir != nil && strings.HasSuffix(reg.Branch, "/"+ledger.RunID(t.heir.Dir)+"/"+ledger.TreeName(t.heir.Job, t.heir.Attempt))
}

// heirsClean is the command that gives up what the heir has.
func (t *treeLeft) heirsClean() string {
	return fmt.Sprintf("orchestrate clean --discard %s", shellword.Quote(ledger.RunID(t.heir.Dir)+"/"+t.heir.Job))
}
