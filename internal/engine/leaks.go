package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"orchestrate/internal/check"
	"orchestrate/internal/workspace"
)

// Where no sandbox holds a job, it can reach the trees of others. What it changes in one
// whose job has ended is seen, because nobody else works there; in one whose job still
// runs only what that job has no business with.

// settledTree is the tree of a writer that has ended.
type settledTree struct {
	job  string
	tree *workspace.Tree

	mu       sync.Mutex
	state    string    // as it was seen last
	since    time.Time // then
	suspects []string  // jobs that nothing held and that ran since
}

// loose reports whether nothing holds an attempt to its own tree.
func loose(a *attempt) bool { return heldBy(a.route) == "" }

// join counts an attempt among those under way; a loose one may reach the trees of all.
func (r *run) join(a *attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.atWork {
		if loose(other) {
			a.beside = append(a.beside, other.job)
		}
		if loose(a) {
			other.beside = append(other.beside, a.job)
		}
	}
	r.atWork[a] = true
	for _, t := range r.settledTrees {
		if loose(a) {
			t.suspect(a.job.ID)
		}
	}
}

func (t *settledTree) suspect(job string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.suspects, job) {
		t.suspects = append(t.suspects, job)
	}
}

// depart counts it out, and from then on has an eye on the tree that it leaves.
func (r *run) depart(ctx context.Context, a *attempt, s *settlement) {
	r.mu.Lock()
	delete(r.atWork, a)
	r.mu.Unlock()
	if s.patch == nil || !a.at.isolated || !r.leaky(a) {
		return
	}
	state, err := a.at.tree.State(context.WithoutCancel(ctx))
	if err != nil {
		r.tell(fmt.Sprintf("whether others change the tree of job %s from now on cannot be told: %v", a.job.ID, err))
		return
	}
	t := &settledTree{job: a.job.ID, tree: a.at.tree, state: state, since: r.eng.Now()}
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.atWork {
		if loose(other) {
			t.suspect(other.job.ID)
		}
	}
	r.settledTrees = append(r.settledTrees, t)
}

// leaky reports whether some other job that has not ended is held by nothing, and whether
// that is worth a look for each of so many.
func (r *run) leaky(a *attempt) bool {
	if a.route.Runtime == runtimeExec && len(r.plan.Jobs) > comparedPrograms {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, j := range r.jobs {
		if id != a.job.ID && (j.status == nil || !j.status.Status.Settled()) && heldBy(j.route) == "" {
			return true
		}
	}
	return false
}

// intruded finds what a loose attempt, whose processes have ended, changed in the trees of
// jobs that ended before it. It is held against it if it alone can have done it. A run of
// many jobs is looked at once, at its end.
func (r *run) intruded(ctx context.Context, a *attempt) (own []string) {
	if !loose(a) || len(r.plan.Jobs) > comparedPrograms {
		return nil
	}
	r.mu.Lock()
	trees := slices.Clone(r.settledTrees)
	r.mu.Unlock()
	for _, t := range trees {
		changed, suspects, since := r.lookAt(ctx, t, a)
		switch {
		case len(changed) == 0:
		case len(suspects) == 1 && suspects[0] == a.job.ID:
			r.tellIntrusion(t, "job "+a.job.ID, changed, since)
			for _, name := range changed {
				own = append(own, fmt.Sprintf("%s of the tree of job %s", name, t.job))
			}
		default:
			r.tellIntrusion(t, "one of the jobs "+some(suspects)+", or somebody else", changed, since)
		}
	}
	return own
}

// lookAt compares a settled tree with what it was when it was seen last. a, if there is
// one, is cleared by it.
func (r *run) lookAt(ctx context.Context, t *settledTree, a *attempt) (changed, suspects []string, since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.suspects) == 0 {
		return nil, nil, t.since
	}
	now, err := t.tree.State(ctx)
	if err != nil {
		r.tell(fmt.Sprintf("whether the tree of job %s was changed after it had ended cannot be told: %v", t.job, err))
		return nil, nil, t.since
	}
	suspects, since = slices.Clone(t.suspects), t.since
	if now != t.state {
		files, err := r.plan.Repo.Compare(ctx, t.state, now)
		if err != nil {
			r.tell(fmt.Sprintf("what was changed in the tree of job %s after it had ended cannot be told: %v", t.job, err))
		}
		changed = paths(files)
	}
	t.state, t.since = now, r.eng.Now()
	if a != nil {
		t.suspects = slices.DeleteFunc(t.suspects, func(id string) bool { return id == a.job.ID })
	}
	return changed, suspects, since
}

// tellIntrusion says who changed what of a tree, and that the work is not touched by it.
func (r *run) tellIntrusion(t *settledTree, who string, changed []string, since time.Time) {
	r.tellChange(fmt.Sprintf("changed in the tree of job %s after it had ended, by %s: %s; what is judged and integrated is the snapshot of job %s, which does not hold this",
		t.job, who, some(changed), t.job), since)
}

// intrusions looks at all settled trees once more when the run's jobs have ended.
func (r *run) intrusions(ctx context.Context) {
	for _, t := range r.settledTrees {
		if changed, suspects, since := r.lookAt(ctx, t, nil); len(changed) > 0 {
			r.tellIntrusion(t, "one of the jobs "+some(suspects)+", or somebody else", changed, since)
		}
	}
}

// perhapsOthers names, beside each file that a writer had no business with, a loose writer
// that ran at the same time and owns it: it may have written to the wrong tree.
func (r *run) perhapsOthers(a *attempt, outside []string) []string {
	if !a.at.isolated {
		return outside
	}
	r.mu.Lock()
	beside := slices.Clone(a.beside)
	r.mu.Unlock()
	said := slices.Clone(outside)
	for i, name := range outside {
		for _, j := range beside {
			if j.Writes() && len(check.Ownership(j.OwnedPaths, relTo(r.plan.Repo.Top(), j.Cwd), []string{name})) == 0 {
				said[i] = fmt.Sprintf("%s (perhaps by job %s, which owns it, ran at the same time and was held by no sandbox)", name, j.ID)
				break
			}
		}
	}
	return said
}
