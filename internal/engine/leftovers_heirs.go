package engine

import (
	"fmt"
	"regexp"
	"strings"

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
// which went on in it, perhaps after others.
func (r *runLeft) goneOnIn(t *treeLeft, reg workspace.Registration) bool {
	return t.heir != nil && ourRef("refs/heads/"+reg.Branch) && runOf(reg.Branch) != r.id
}

// laterAttempt is what the name of a later attempt's branch has behind the id of its job.
var laterAttempt = regexp.MustCompile(`\.a[0-9]+$`)

// heirOf says who went on in a worktree, by the branch that it is on, and with what command
// that is given up.
func heirOf(branch string) (why, by string) {
	run, job := runOf(branch), branch[strings.LastIndexByte(branch, '/')+1:]
	job = laterAttempt.ReplaceAllString(job, "")
	return fmt.Sprintf("job %s of run %s went on in it, and has what becomes of it", job, run),
		"orchestrate clean --discard " + shellword.Quote(run+"/"+job)
}
