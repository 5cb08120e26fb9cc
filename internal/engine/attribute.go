package engine

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/check"
	"orchestrate/internal/workspace"
)

// Several jobs that nothing held ran, and something changed where none of them had any
// business. It is held against one of them only where the change itself points at that one
// and at no other.

// Bounds of what is compared for that.
const (
	maxTraced  = 16 << 20 // bytes of a file
	mostTraced = 1000     // files
)

// whose finds the one of several loose attempts to which a changed file points, nil = none
// or more than one. dir is the top of the tree that it changed in, name is from there. A
// file points at who alone may write it by its owned_paths, at who alone made the same
// content of it in its own tree, and at who alone made a new file of that name there.
func (r *run) whose(ctx context.Context, among []*attempt, dir, name string) (who *attempt, why string) {
	if name == ".git" || strings.HasPrefix(name, ".git/") {
		return nil, ""
	}
	who = onlyWriter(among, func(a *attempt) bool { return r.owns(a, name) })
	if who != nil && !who.job.OwnsCwd() {
		return who, "which it alone owns"
	}
	if who = r.maker(ctx, among, dir, name); who != nil {
		return who, "with what it made there in its own tree"
	}
	if _, ok := readTraced(dir, name); !ok {
		return nil, ""
	}
	who = onlyWriter(among, func(a *attempt) bool { _, ok := readTraced(a.at.top, name); return ok })
	if who == nil {
		return nil, ""
	}
	if sum, known := r.atBase(ctx, who, name); sum != "" || !known {
		return nil, ""
	}
	return who, "which it made in its own tree too"
}

// maker is the one of several attempts whose own tree has the same content of a file,
// other than what it started with. That nothing is in a file is no sign.
func (r *run) maker(ctx context.Context, among []*attempt, dir, name string) *attempt {
	data, ok := readTraced(dir, name)
	if !ok || len(data) == 0 {
		return nil
	}
	who := onlyWriter(among, func(a *attempt) bool {
		own, ok := readTraced(a.at.top, name)
		return ok && bytes.Equal(own, data)
	})
	if who == nil {
		return nil
	}
	if sum, known := r.atBase(ctx, who, name); sum == digest(data) || !known {
		return nil
	}
	return who
}

// apart reports whether a writer works in a tree of its own that can be looked at.
func (a *attempt) apart() bool { return a.job.Writes() && a.at.isolated && a.at.tree != nil }

// onlyWriter is the one writer with a tree of its own of which something is true.
func onlyWriter(among []*attempt, is func(*attempt) bool) (one *attempt) {
	for _, a := range among {
		switch {
		case !a.apart() || !is(a):
		case one != nil:
			return nil
		default:
			one = a
		}
	}
	return one
}

// owns reports whether a writer owns a file, told from the top of the repository.
func (r *run) owns(a *attempt, name string) bool {
	return len(check.Ownership(a.job.OwnedPaths, relTo(r.plan.Repo.Top(), a.job.Cwd), []string{name})) == 0
}

// atBase is the digest of a file in the commit that an attempt started from, "" = it has none.
func (r *run) atBase(ctx context.Context, a *attempt, name string) (sum string, known bool) {
	all, err := r.plan.Repo.Digests(ctx, a.at.tree.Base, []string{name})
	if err != nil {
		r.tell(fmt.Sprintf("whether job %s made %s cannot be told: %v", a.job.ID, name, err))
	}
	return all[name], err == nil
}

// readTraced reads a regular file of a tree, through no link that leads out of it.
func readTraced(top, name string) (data []byte, ok bool) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, false
	}
	defer root.Close() //nolint:errcheck // opened for reading
	info, err := root.Lstat(filepath.FromSlash(name))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxTraced {
		return nil, false
	}
	data, err = root.ReadFile(filepath.FromSlash(name))
	return data, err == nil
}

// candidates are a loose attempt and those like it that ran beside it.
func (r *run) candidates(a *attempt) []*attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(a.beside)
	if loose(a) {
		all = append(all, a)
	}
	return all
}

// traceable reports whether a change of the shared checkout may point at an attempt.
func (r *run) traceable(a *attempt) bool {
	return loose(a) && a.apart() && r.compared(a) && r.plan.Repo != nil
}

// leaked finds what a loose writer, whose processes have ended, changed in the shared
// checkout while others ran: what points at it alone. All else is left to be told.
func (r *run) leaked(ctx context.Context, a *attempt) (own []string) {
	if a.found == nil || a.lone || !r.traceable(a) {
		return nil
	}
	before, known := r.watched()
	if _, there := r.otherWriter(a.begun); there || before == nil {
		return nil
	}
	now, err := r.fingerprint(ctx)
	if err != nil {
		r.tell(fmt.Sprintf("the checkout could not be compared after job %s: %v", a.job.ID, err))
		return nil
	}
	var mine []string
	untold := before.Diff(now)
	changed := slices.DeleteFunc(a.found.Diff(now), func(name string) bool { return known[name] || !slices.Contains(untold, name) })
	for _, name := range changed[:min(len(changed), mostTraced)] {
		if who, why := r.whose(ctx, r.candidates(a), r.plan.Repo.Top(), name); who == a {
			mine = append(mine, name)
			own = append(own, name+ofCheckout+" ("+why+")")
		}
	}
	if len(mine) > 0 {
		r.accept(mine, now)
		r.fail(r.writeCheckout())
		r.tellChange(fmt.Sprintf("changed in the shared checkout while job %s, which had a tree of its own, ran beside others; it points at this job, and is held against it: %s", a.job.ID, some(own)), a.begun)
	}
	return own
}

// watched is what the shared checkout is compared with, nil while a writer of this run
// works there, and what of it others of this run are known to have changed.
func (r *run) watched() (before *workspace.Fingerprint, known map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for a := range r.atWork {
		if a.at.shared() {
			return nil, nil
		}
	}
	known = map[string]bool{}
	for _, j := range r.jobs {
		for _, name := range j.shared {
			known[name] = true
		}
	}
	return r.before, known
}

// intoOthers finds what a loose writer, whose processes have ended, put into the trees of
// writers that still run and do not own it: its own files, which it alone made the same in
// its own tree. That it owns them would not do, for whose tree it is may have written there
// itself.
func (r *run) intoOthers(ctx context.Context, a *attempt, patch *workspace.Patch) (own []string) {
	if !loose(a) || !a.apart() || patch == nil || len(r.plan.Jobs) > comparedPrograms {
		return nil
	}
	made := paths(patch.Files)
	made = made[:min(len(made), mostTraced)]
	for _, v := range r.othersAtWork(a) {
		among := slices.DeleteFunc(r.candidates(a), func(c *attempt) bool { return c == v })
		for _, name := range made {
			if r.owns(v, name) || !r.owns(a, name) || r.maker(ctx, among, v.at.top, name) != a {
				continue
			}
			data, _ := readTraced(v.at.top, name)
			if sum, known := r.atBase(ctx, v, name); known && sum != digest(data) {
				own = append(own, inTreeOf(name, v))
			}
		}
	}
	return own
}

func inTreeOf(name string, a *attempt) string {
	return name + ofTree + a.job.ID
}

// othersAtWork are the writers under way that have trees of their own.
func (r *run) othersAtWork(a *attempt) (all []*attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for v := range r.atWork {
		if v != a && v.apart() {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(v, w *attempt) int { return strings.Compare(v.job.ID, w.job.ID) })
	return all
}

// charge holds a change of another tree against an attempt that is still under way.
func (r *run) charge(a *attempt, change string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(a.charged, change) {
		a.charged = append(a.charged, change)
	}
}

// trespasses are all that a writer, whose processes have ended, is found to have changed
// outside its tree while others worked.
func (r *run) trespasses(ctx context.Context, a *attempt, patch *workspace.Patch) []string {
	own := append(r.leaked(ctx, a), r.intruded(ctx, a)...)
	for _, change := range append(own, r.intoOthers(ctx, a, patch)...) {
		r.charge(a, change)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(a.charged)
}
