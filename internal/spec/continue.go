package spec

import (
	"reflect"
	"slices"
)

// ofSession are the fields that a job which goes on with a session has of the job that
// held it.
var ofSession = [...]string{"runtime", "model", "agent", "task", "cwd", "isolation", "owned_paths", "worktree"}

// judging are the tasks of jobs that judge others' work.
var judging = [...]string{"review", "audit", "security"}

// linkSessions lets each job that goes on with a session know the job that held it, as far
// as there is an end to that.
func linkSessions(views []jobView) {
	byID := make(map[string]*jobView, len(views))
	for i := range views {
		byID[views[i].own.field("id").text()] = &views[i]
	}
	next := func(v *jobView) *jobView { return byID[v.own.field("continue").text()] }
	for i := range views {
		v := &views[i]
		on, seen := next(v), map[*jobView]bool{v: true}
		for at := on; at != nil; at = next(at) {
			if seen[at] {
				on = nil
				break
			}
			seen[at] = true
		}
		v.after = on
	}
}

// inherit fills what follows from the job whose session goes on, which was read before.
func (v jobView) inherit() {
	j := v.job
	if v.after == nil {
		return
	}
	if j.Effect == "" {
		j.Effect = v.after.job.Effect
	}
	j.Worktree.Base = "" // it starts where that job left
}

// sessions checks the jobs that go on with a session.
func (r *reader) sessions(views []jobView, known map[string]jobView) {
	taken := map[string]jobView{}
	for _, v := range views {
		at := v.own.field("continue")
		on, ok := known[at.text()]
		if !ok {
			continue
		}
		name, first := quote(on.job.ID), taken[on.job.ID]
		switch {
		case on.job.Gathers():
			r.failf(at, "session", "%s is made of the results of other jobs and holds no session; name one of those: %s", name, list(firstFew(on.job.Gather.Members)))
		case on.job.Exec():
			r.failf(at, "session", "%s runs a plain program, which holds no session; name a job of an agent", name)
		case v.job.Exec():
			r.failf(at, "session", "a plain program goes on with no session; remove continue")
		case v.job.Fresh():
			r.failf(at, "session", "a judge begins a fresh session (task %s); remove continue and say depends_on: [%s], or give it another task", v.job.Task, on.job.ID)
		case first.job != nil:
			r.failf(at, "session", "the job %s goes on with the session of %s already; name %s here, or let one of them depend on the other without continue", quote(first.job.ID), name, quote(first.job.ID))
		}
		taken[on.job.ID] = v
		r.sameAsBefore(v)
	}
}

// sameAsBefore refuses what a job that goes on with a session says otherwise than the job
// that held it.
func (r *reader) sameAsBefore(v jobView) {
	if v.after == nil {
		return
	}
	j, on := v.job, v.after.job
	base := on.Worktree
	base.Base = ""
	for _, f := range []struct {
		key  string
		same bool
	}{
		{"runtime", j.Runtime == on.Runtime && j.RuntimePlaceholder == on.RuntimePlaceholder},
		{"model", j.Model == on.Model},
		{"agent", j.Agent == on.Agent},
		{"cwd", j.Cwd == on.Cwd},
		{"isolation", j.Isolation == on.Isolation},
		{"worktree", reflect.DeepEqual(j.Worktree, base)},
		{"fallback_runtime", j.Fallbacks == nil},
	} {
		if own := v.own.field(f.key); own.present() && !f.same {
			r.failf(own, "session", "%s follows from %s, whose session goes on; remove it", f.key, quote(on.ID))
		}
	}
}

func firstFew(ids []string) []string {
	if len(ids) <= maxListed {
		return ids
	}
	return append(slices.Clone(ids[:maxListed]), "…")
}
