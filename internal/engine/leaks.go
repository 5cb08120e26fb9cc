package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

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
	state    string     // as it was seen last
	since    time.Time  // then
	suspects []*attempt // that nothing held and that ran since
}

// loose reports whether nothing holds an attempt to its own tree.
func loose(a *attempt) bool { return heldBy(a.route) == "" }

// join counts an attempt among those under way; a loose one may reach the trees of all.
func (r *run) join(a *attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.atWork {
		if loose(other) {
			a.beside = append(a.beside, other)
		}
		if loose(a) {
			other.beside = append(other.beside, a)
		}
	}
	r.atWork[a] = true
	for _, t := range r.settledTrees {
		if loose(a) {
			t.suspect(a)
		}
	}
}

func (t *settledTree) suspect(a *attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.suspects, a) {
		t.suspects = append(t.suspects, a)
	}
}

// jobsOf names the jobs of some attempts, each once.
func jobsOf(attempts []*attempt) (ids []string) {
	for _, a := range attempts {
		if !slices.Contains(ids, a.job.ID) {
			ids = append(ids, a.job.ID)
		}
	}
	return ids
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
			t.suspect(other)
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
// jobs that ended before it. It is held against it if it alone can have done it, or if it
// points at it alone. A run of many jobs is looked at once, at its end.
func (r *run) intruded(ctx context.Context, a *attempt) (own []string) {
	if !loose(a) || len(r.plan.Jobs) > comparedPrograms {
		return nil
	}
	r.mu.Lock()
	trees := slices.Clone(r.settledTrees)
	r.mu.Unlock()
	for _, t := range trees {
		changed, suspects, since := r.lookAt(ctx, t, a)
		by := r.share(ctx, t, changed, suspects)
		for _, who := range append(suspects, nil) {
			names := by[who]
			if len(names) == 0 {
				continue
			}
			if who == nil {
				r.tellIntrusion(t, someOne(suspects), names, since)
				continue
			}
			r.tellIntrusion(t, "job "+who.job.ID, names, since)
			for _, name := range names {
				if change := name + ofTree + t.job; who == a {
					own = append(own, change)
				} else {
					r.charge(who, change)
				}
			}
		}
	}
	return own
}

// share parts what changed in a settled tree by whom of the suspects it is held against,
// nil = nobody.
func (r *run) share(ctx context.Context, t *settledTree, changed []string, suspects []*attempt) map[*attempt][]string {
	by := map[*attempt][]string{}
	for i, name := range changed {
		var who *attempt
		if len(suspects) == 1 {
			who = suspects[0]
		} else if i < mostTraced {
			who, _ = r.whose(ctx, suspects, t.tree.Dir, name)
		}
		by[who] = append(by[who], name)
	}
	return by
}

func someOne(suspects []*attempt) string {
	return "one of the jobs " + some(jobsOf(suspects)) + ", or somebody else"
}

// lookAt compares a settled tree with what it was when it was seen last. a, if there is
// one, is cleared by it.
func (r *run) lookAt(ctx context.Context, t *settledTree, a *attempt) (changed []string, suspects []*attempt, since time.Time) {
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
		t.suspects = slices.DeleteFunc(t.suspects, func(o *attempt) bool { return o == a })
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
			r.tellIntrusion(t, someOne(suspects), changed, since)
		}
	}
}

// perhapsOthers says, beside each file that a writer had no business with, which loose
// writer that ran at the same time is behind it: the one that alone made the same in its own
// tree, and fails for it; else, perhaps, one that owns it.
func (r *run) perhapsOthers(ctx context.Context, a *attempt, outside []string) []string {
	if !a.at.isolated {
		return outside
	}
	among := slices.DeleteFunc(r.candidates(a), func(o *attempt) bool { return o == a })
	said := slices.Clone(outside)
	for i, name := range outside {
		if i < mostTraced {
			if by := r.maker(ctx, among, a.at.top, name); by != nil && r.owns(by, name) {
				r.charge(by, inTreeOf(name, a))
				said[i] = fmt.Sprintf("%s (by job %s, which owns it, made the same in its own tree, ran at the same time and was held by no sandbox)", name, by.job.ID)
				continue
			}
		}
		for _, o := range among {
			if o.job.Writes() && r.owns(o, name) {
				said[i] = fmt.Sprintf("%s (perhaps by job %s, which owns it, ran at the same time and was held by no sandbox)", name, o.job.ID)
				break
			}
		}
	}
	return said
}
