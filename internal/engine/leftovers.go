package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/reclaim"
	"orchestrate/internal/shellword"
	"orchestrate/internal/workspace"
)

// CleanRequest says whose leftovers are looked at, and what may go beside what was
// integrated.
type CleanRequest struct {
	Cwd     string   // absolute
	Discard []string // RUN or RUN/JOB, explicitly given up
}

// yard is a workspace with all that its runs have left in it.
type yard struct {
	eng     *Engine
	root    string
	repo    *workspace.Repo // nil = it is in no repository
	regs    []workspace.Registration
	refs    []workspace.Ref
	busy    []occupant
	discard []string
	claimed map[string]bool      // registrations and refs that belong to a run here
	within  map[string]string    // commit -> a person's ref which leads to it, "" = none does
	saved   map[string]time.Time // when, by salvage ref
	looks   *workspace.Looks
	places  map[string][]workspace.Registration // by the folder that they name, without links
	notes   []string
}

// Leftovers lists what runs of the workspace have left, with what may become of each.
// Nothing is changed.
func (e *Engine) Leftovers(ctx context.Context, req CleanRequest) (l reclaim.Listing, err error) {
	y, err := e.enterYard(ctx, req)
	if err != nil {
		return l, err
	}
	l = reclaim.Listing{SchemaVersion: ledger.SchemaVersion, Root: y.root, DryRun: true, Items: []reclaim.Item{}, Notes: []string{}}
	dirs, err := ledger.EveryRunDir(y.root)
	if err != nil {
		return l, err
	}
	var runs []*runLeft
	for _, dir := range dirs {
		r := y.readRun(dir, ledger.Look, false)
		if err := r.close(); err != nil { // what it told stays
			return l, err
		}
		runs = append(runs, r)
	}
	l.Items = append(l.Items, y.items(ctx, y.find(ctx, runs...))...)
	l.Items = append(l.Items, y.items(ctx, y.unclaimed(ctx))...)
	l.Items = append(l.Items, y.halfRemoved(dirs)...)
	reclaim.Settle(l.Items)
	l.Sum()
	l.Notes = append(l.Notes, append(y.notes, y.halfLanded(runs)...)...)
	return l, ctx.Err()
}

// halfLanded explains what an integration has in git's own directory while it moves the
// checkout.
func (y *yard) halfLanded(runs []*runLeft) []string {
	if y.repo == nil {
		return nil
	}
	left := strings.Join(y.repo.Landing(), " and ")
	if left == "" {
		return nil
	}
	for _, r := range runs {
		switch {
		case r.cut != "" && r.live != "":
			return []string{fmt.Sprintf("%s: of an integration of run %s; %s", left, r.id, r.live)}
		case r.cut != "":
			return []string{fmt.Sprintf("%s: of the integration of run %s that was cut off, which goes on with them: orchestrate integrate %s", left, r.id, r.id)}
		}
	}
	return []string{fmt.Sprintf("%s: of an integration of which no run here tells, so the checkout may be half moved: look at it with git status and git diff HEAD before you remove them", left)}
}

// enterYard looks at the workspace as git and the system have it now.
func (e *Engine) enterYard(ctx context.Context, req CleanRequest) (*yard, error) {
	y := &yard{eng: e, discard: req.Discard, claimed: map[string]bool{}}
	cwd, err := filepath.EvalSymlinks(req.Cwd)
	if err != nil {
		return nil, err
	}
	y.root = cwd
	repo, err := workspace.Open(ctx, cwd)
	switch {
	case err == nil:
		y.repo, y.root = repo, repo.Top()
	case errors.Is(err, workspace.ErrNoCommit):
		if y.root, err = workspace.Top(ctx, cwd); err != nil {
			return nil, err
		}
	case !errors.Is(err, workspace.ErrNotRepo):
		return nil, err
	}
	if err := y.look(ctx); err != nil {
		return nil, err
	}
	return y, nil
}

// look reads what git has, and who works where, anew.
func (y *yard) look(ctx context.Context) (err error) {
	y.busy, y.within = occupants(), map[string]string{}
	if y.repo == nil {
		return nil
	}
	if y.regs, err = y.repo.Registrations(); err != nil {
		return err
	}
	y.places = map[string][]workspace.Registration{}
	for _, reg := range y.regs {
		if at, err := workspace.Resolved(reg.Dir); err == nil && reg.Dir != "" {
			y.places[at] = append(y.places[at], reg)
		}
	}
	if y.refs, err = y.repo.Refs(ctx); err != nil {
		return err
	}
	if slices.ContainsFunc(y.refs, func(ref workspace.Ref) bool { return strings.HasPrefix(ref.Name, salvagePrefix) }) {
		if y.saved, err = y.repo.Times(ctx, salvagePrefix); err != nil {
			return err
		}
	}
	y.looks, err = y.repo.Looks(ctx)
	return err
}

const salvagePrefix = "refs/orchestrate/salvage/"

// ourRef reports whether a ref has a name that this program gives: what such a one
// leads to is not integrated by that.
func ourRef(name string) bool {
	branch, ok := strings.CutPrefix(name, "refs/heads/orchestrate")
	return strings.HasPrefix(name, "refs/orchestrate/") || ok && strings.Contains(branch, "/")
}

// theirRef reports whether a ref is a branch, tag or remote branch of a person's. Others,
// such as a stash, come and go: what only they lead to is nowhere yet.
func theirRef(name string) bool { return lastingRef(name) && !ourRef(name) }

func lastingRef(name string) bool {
	return slices.ContainsFunc([]string{"refs/heads/", "refs/tags/", "refs/remotes/"}, func(kind string) bool { return strings.HasPrefix(name, kind) })
}

// given reports whether something of a run was explicitly given up.
func (y *yard) given(run, job string) bool {
	return slices.Contains(y.discard, run) || job != "" && slices.Contains(y.discard, run+"/"+job)
}

// refAt is the commit that a ref is at, "" = it is not there.
func (y *yard) refAt(name string) string {
	for _, ref := range y.refs {
		if ref.Name == name {
			return ref.Commit
		}
	}
	return ""
}

// registeredAt are the registrations that name a folder.
func (y *yard) registeredAt(dir string) []workspace.Registration {
	at, err := workspace.Resolved(dir)
	if err != nil {
		return nil
	}
	return y.places[at]
}

// registeredIn is the registration with this git directory.
func (y *yard) registeredIn(gitDir string) (workspace.Registration, bool) {
	i := slices.IndexFunc(y.regs, func(reg workspace.Registration) bool { return gitDir != "" && reg.GitDir == filepath.Clean(gitDir) })
	if i < 0 {
		return workspace.Registration{}, false
	}
	return y.regs[i], true
}

// leftover is something that was found, with what is needed to decide about it and to
// remove it.
type leftover struct {
	item  reclaim.Item
	facts reclaim.Facts
	tree  *treeLeft // of a worktree or its branch
	run   *runLeft  // nil = of no run here
	// Of a worktree: what git keeps of it, whether its folder is there, and where that is
	// by the links on the way.
	reg    workspace.Registration
	folder bool
	place  string
	opened bool      // git has to tell what is in it
	made   time.Time // a commit that was saved
}

// items decides about what was found.
func (y *yard) items(ctx context.Context, found []*leftover) (all []reclaim.Item) {
	notes := make([]string, len(found))
	inTwos(len(found), func(i int) {
		found[i].item.Bytes, found[i].item.At, notes[i] = found[i].sized(ctx)
	})
	y.notes = append(y.notes, slices.DeleteFunc(notes, func(note string) bool { return note == "" })...)
	for _, f := range found {
		d := reclaim.Decide(f.facts)
		f.item.Fate, f.item.Why, f.item.Next = d.Fate, d.Why, d.Next
		all = append(all, f.item)
	}
	return all
}

// unclaimed are what git has that looks like a run's, where no run here says that it is.
func (y *yard) unclaimed(ctx context.Context) (all []*leftover) {
	for _, reg := range y.regs {
		if y.claimed[reg.GitDir] || !looksLikeTree(reg) {
			continue
		}
		it := reclaim.Item{Kind: reclaim.KindWorktree, Path: reg.Dir, Branch: reg.Branch, Commit: reg.Commit, State: "unknown"}
		all = append(all, y.nobodys(it, reg.Dir, y.repo.HowToRemove(ctx, reg)))
	}
	for _, ref := range y.refs {
		if y.claimed[ref.Name] {
			continue
		}
		if run, ok := strings.CutPrefix(ref.Name, salvagePrefix); ok {
			run, _, _ = strings.Cut(run, "/")
			it := reclaim.Item{Kind: reclaim.KindSalvage, Run: run, Branch: ref.Name, Commit: ref.Commit, State: "saved"}
			by := fmt.Sprintf("git cherry-pick %s, then git update-ref -d %s", ref.Name, ref.Name)
			all = append(all, &leftover{item: it, made: y.saved[ref.Name], facts: reclaim.Facts{Run: run, Kind: it.Kind, By: by}})
		} else if branch, ok := strings.CutPrefix(ref.Name, "refs/heads/"); ok && ourRef(ref.Name) {
			it := reclaim.Item{Kind: reclaim.KindBranch, Run: runOf(branch), Branch: branch, Commit: ref.Commit, State: "unknown"}
			name := shellword.Quote(branch)
			all = append(all, y.nobodys(it, ref.In, fmt.Sprintf("git log %s, and once its commits are merged git branch -d %s", name, name)))
		}
	}
	return all
}

// nobodys is something that no run here made: that of another workspace of the same
// repository, if it is in one.
func (y *yard) nobodys(it reclaim.Item, dir, by string) *leftover {
	f := &leftover{item: it, facts: reclaim.Facts{Run: it.Run, Kind: it.Kind, By: by, Foreign: "no run of this workspace says that it made it"}}
	other, run, ok := ledger.Within(dir)
	if !ok || other == y.root {
		return f
	}
	if _, err := ledger.Find(other, run); err == nil {
		f.facts.Foreign = "it is of run " + run + " of the workspace " + other
		f.facts.By = "orchestrate clean, called in " + shellword.Quote(other)
	}
	return f
}

// runOf is the part of a branch's name that is a run's id where it is a run's.
func runOf(branch string) string {
	_, rest, _ := strings.Cut(branch, "/")
	run, _, _ := strings.Cut(rest, "/")
	return run
}

// looksLikeTree reports whether a worktree is where a run's would be, or on a branch
// that could be a run's.
func looksLikeTree(reg workspace.Registration) bool {
	_, _, ours := ledger.Within(reg.Dir)
	return ours || ourRef("refs/heads/"+reg.Branch)
}

// real are those of these folders that are there, without links. What a link of somebody's
// leads to is not ours.
func (y *yard) real(places []string) (all []string) {
	for _, place := range places {
		at, err := workspace.Resolved(place)
		if err != nil {
			y.notes = append(y.notes, err.Error())
		} else if !workspace.Linked(at) {
			all = append(all, at)
		}
	}
	return all
}

// halfRemoved are folders that a clean before was removing when it was cut off.
func (y *yard) halfRemoved(dirs []string) (all []reclaim.Item) {
	places := []string{filepath.Join(y.root, filepath.FromSlash(ledger.ReportsDir))}
	for _, worker := range ledger.WorkerRuns(y.root) {
		places = append(places, filepath.Join(worker, ledger.CallsDir))
	}
	for _, dir := range dirs {
		places = append(places, y.treeRoots(dir)...)
	}
	for _, place := range y.real(places) {
		gone, err := workspace.GoneIn(place)
		if err != nil {
			y.notes = append(y.notes, err.Error())
		}
		for _, dir := range gone {
			bytes, at, _ := measure(dir, nil)
			all = append(all, reclaim.Item{
				Kind: reclaim.KindPrivate, Path: dir, Bytes: bytes, At: at, State: "half removed",
				Fate: reclaim.Remove, Why: "an earlier clean was removing it when it was cut off; what it held is saved",
			})
		}
	}
	return all
}
