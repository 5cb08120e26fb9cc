package spec

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// basePrefix stands before the id of the job at whose snapshot a worktree starts.
const basePrefix = "job:"

// worktree reads what a job's worktree is furnished with.
func (r *reader) worktree(v value) Worktree {
	w := Worktree{Setup: r.checks(v.field("setup"))}
	w.Base, _ = strings.CutPrefix(v.field("base").text(), basePrefix)
	for _, p := range v.field("copy").texts() {
		if strings.HasSuffix(p, "/") { // as in owned_paths: everything below
			p += "**"
		}
		w.Copy = append(w.Copy, cleanPath(p))
	}
	return w
}

// written is the base as a spec says it.
func (w Worktree) written() string {
	if w.Base == "" {
		return ""
	}
	return basePrefix + w.Base
}

// baseJob is where a job says at whose snapshot it starts, with that job's id for text.
func baseJob(v jobView) value {
	base := v.get("worktree").field("base")
	if base.text() == "" {
		return base
	}
	t := *base.t
	t.text = v.job.Worktree.Base
	base.t = &t
	return base
}

// worktreeRules checks what one job says of its worktree.
func (r *reader) worktreeRules(v jobView) {
	tree := v.get("worktree")
	if v.job.Isolation == "none" && !v.job.Worktree.Empty() {
		r.failf(tree, "isolation", "worktree is what a worktree of the job's own is to hold, but isolation is none; remove one of them")
	}
	for _, item := range tree.field("copy").items() {
		if r.relative(item, "the file to copy") && !doublestar.ValidatePattern(item.text()) {
			r.failf(item, "path", "the file to copy %s is not a valid glob; allowed: *, **, ?, [a-z] and {a,b}", quote(item.text()))
		}
	}
	for _, item := range tree.field("setup").items() {
		if item.t.kind != kindMap || item.field("assert").t != nil {
			continue
		}
		switch run := item.field("run"); {
		case !run.present():
			r.missing(run, "a set-up command is text for a shell, or {run: [a list of words]}")
		case len(run.texts()) > 0 && run.texts()[0] == "":
			r.failf(run.item(0), "exec", "the program's name is empty")
		}
	}
}

// baseRules checks that the job at whose snapshot another one starts leaves one.
func (r *reader) baseRules(v jobView, known map[string]jobView) {
	base := baseJob(v)
	on, ok := known[base.text()]
	if ok {
		on = lastRound(on, known)
	}
	switch {
	case !ok || base.text() == v.job.ID || on.job.Effect == "":
	case !on.job.Writes():
		r.failf(base, "base", "job %s only observes, so it leaves nothing to start from; name a job that writes, or leave base out", quote(on.job.ID))
	case on.job.Isolation == "none":
		r.failf(base, "base", "job %s works in the shared checkout (isolation: none), so it leaves no snapshot to start from; leave its isolation out", quote(on.job.ID))
	}
}
