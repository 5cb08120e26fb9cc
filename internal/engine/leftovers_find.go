package engine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/reclaim"
	"orchestrate/internal/shellword"
	"orchestrate/internal/workspace"
)

// find is everything that runs have left. What git has to be asked for is asked for all
// of them together.
func (y *yard) find(ctx context.Context, runs ...*runLeft) (all []*leftover) {
	y.learn(ctx, runs)
	var each [][]*leftover
	for _, r := range runs {
		each = append(each, r.find(ctx))
	}
	all = slices.Concat(each...)
	y.hold(ctx, all)
	for i, r := range runs {
		for _, f := range each[i] {
			r.concerns(f)
		}
		keepWithTrees(each[i])
	}
	return all
}

// hold finds what is in worktrees that no commit holds.
func (y *yard) hold(ctx context.Context, all []*leftover) {
	trees := slices.DeleteFunc(slices.Clone(all), func(f *leftover) bool { return !f.opened || f.tree.ofArbiter() })
	inTwos(len(trees), func(i int) {
		f := trees[i]
		dirty, err := y.looks.Held(ctx, f.reg, f.facts.Unused)
		if err == nil {
			f.facts.Nested, err = y.looks.Nested(ctx, f.reg)
		}
		if f.item.Dirty = dirty; err != nil {
			f.facts.Unknown, f.facts.By = "git cannot tell what is in it: "+err.Error(), statusIn(f.tree.dir)
		}
	})
}

// find is everything that the run has left: its own directory first, then its trees and
// branches, then what lies among them, then its folder for temporary files.
func (r *runLeft) find(ctx context.Context) []*leftover {
	all := []*leftover{{run: r, item: reclaim.Item{Kind: reclaim.KindRun, Path: r.dir, State: r.state()}}}
	for _, t := range r.trees {
		r.settlePlace(t)
		for _, f := range []*leftover{r.findTree(ctx, t), r.findBranch(ctx, t)} {
			if f != nil {
				all = append(all, f)
			}
		}
	}
	all = append(all, r.findStrays(ctx)...)
	if p := r.findPrivate(); p != nil {
		all = append(all, p)
	}
	return all
}

// concerns adds what is true of everything that the run has left.
func (r *runLeft) concerns(f *leftover) {
	it := &f.item
	it.Run = r.id
	f.facts.Run, f.facts.Job, f.facts.Kind = r.id, it.Job, it.Kind
	f.facts.Live, f.facts.Ends, f.facts.Again, f.facts.Cut = r.live, r.ends, r.again, r.cut
	if f.facts.Cut != "" && it.Kind != reclaim.KindRun { // said once
		f.facts.Cut = "an integration of its run was cut off"
	}
	f.facts.Given = r.given(it.Kind, it.Job, it.Attempt)
	if r.unknown != "" {
		f.facts.Unknown, f.facts.By = r.unknown, ""
		if it.Path != "" {
			f.facts.By = "ls -la " + shellword.Quote(it.Path)
		}
	}
}

// keepWithTrees keeps the branches whose worktrees stay.
func keepWithTrees(all []*leftover) {
	for _, tree := range all {
		d := reclaim.Decide(tree.facts)
		if tree.item.Kind != reclaim.KindWorktree || tree.tree == nil || d.Fate == reclaim.Remove {
			continue
		}
		for _, f := range all {
			if f.item.Kind == reclaim.KindBranch && f.tree == tree.tree && reclaim.Decide(f.facts).Fate == reclaim.Remove {
				f.facts.Foreign, f.facts.By = "its worktree stays: "+d.Why, d.Next
			}
		}
	}
}

// state is where the run stands, in a word or two.
func (r *runLeft) state() string {
	switch {
	case r.led == nil || r.unknown != "":
		return "unreadable"
	case r.live != "":
		return "live"
	}
	st := r.led.State()
	switch st.Phase {
	case ledger.PhaseEnded:
		return "ended, " + st.Verdict
	case ledger.PhaseAwaiting:
		return "awaits the session"
	}
	return "cut off"
}

// stateOf is how an attempt ended, in a word or two.
func stateOf(t *treeLeft) string {
	switch {
	case !t.ended:
		return "cut off"
	case t.status.Reason != "":
		return fmt.Sprintf("%s: %s", t.status.Status, t.status.Reason)
	}
	return string(t.status.Status)
}

// about is what the tree and the branch of an attempt have in common.
func (r *runLeft) about(ctx context.Context, t *treeLeft) reclaim.Facts {
	f := reclaim.Facts{
		Job: t.job, Status: t.status.Status, Observer: t.ofArbiter() || t.ended && t.branch == "" && t.work.Commit == "" && t.furnished,
		Empty:  t.status.Status == ledger.Success && t.work.Commit != "" && t.work.Commit == t.work.Base,
		Unused: t.work.Commit == "" && !t.furnished,
	}
	f.Into = r.into(ctx, t)
	if f.Into == "" && t.work.Commit != "" {
		f.Reached = r.y.reached(ctx, t.work.Commit)
	}
	for _, later := range r.trees {
		if later.job == t.job && later.n > t.n && f.Replaced == "" {
			f.Replaced = r.into(ctx, later)
			f.Later = f.Later || later.status.Status == ledger.Success && later.work.Commit != later.work.Base
		}
	}
	return f
}

// into is the ref of a person that has an attempt's work by way of an integration.
func (r *runLeft) into(ctx context.Context, t *treeLeft) string {
	for _, w := range r.merged {
		if w.Job == t.job && w.Done != "" && t.work.Commit != "" && w.Commit == t.work.Commit {
			if ref := r.y.reached(ctx, w.Done); ref != "" {
				return ref
			}
		}
	}
	return ""
}

// reached is a ref of a person's from which a commit is reached, "" = none.
func (y *yard) reached(ctx context.Context, commit string) string {
	if y.repo == nil || commit == "" {
		return ""
	}
	ref, known := y.within[commit]
	if !known {
		var err error
		if ref, err = y.repo.ReachedFrom(ctx, commit, theirRef); err != nil {
			y.notes = append(y.notes, err.Error())
		}
		y.within[commit] = ref
	}
	return ref
}

// learn asks once for all commits of the runs which of them the person's refs lead to: as
// a rule none, or the branch that is checked out. Asking for each takes long.
func (y *yard) learn(ctx context.Context, runs []*runLeft) {
	var commits []string
	for _, r := range runs {
		for _, t := range r.trees {
			if t.work.Commit != t.work.Base {
				commits = append(commits, t.work.Commit)
			}
		}
		for _, w := range r.merged {
			commits = append(commits, w.Done)
		}
	}
	slices.Sort(commits)
	commits = slices.DeleteFunc(slices.Compact(commits), func(c string) bool { return c == "" })
	theirs := slices.DeleteFunc(slices.Clone(y.refs), func(ref workspace.Ref) bool { return !theirRef(ref.Name) })
	rest := y.ask(ctx, commits, theirs, "")
	if i := slices.IndexFunc(theirs, func(ref workspace.Ref) bool { return ref.In == y.root }); i >= 0 {
		y.ask(ctx, rest, theirs[i:i+1], theirs[i].Name)
	}
}

// ask takes in which commits these refs lead to, by the name of the ref, or without one
// which they do not lead to. It returns the others.
func (y *yard) ask(ctx context.Context, commits []string, refs []workspace.Ref, name string) (rest []string) {
	if y.repo == nil || len(commits) == 0 {
		return nil
	}
	lost, err := y.repo.Unreached(ctx, commits, refs)
	if err != nil {
		y.notes = append(y.notes, err.Error())
		return nil
	}
	for _, commit := range commits {
		if lost[commit] == (name == "") {
			y.within[commit] = name
		} else {
			rest = append(rest, commit)
		}
	}
	return rest
}

// findTree is what there is of an attempt's worktree, nil = nothing.
func (r *runLeft) findTree(ctx context.Context, t *treeLeft) *leftover {
	if t.dir == "" || t.passed {
		return nil
	}
	reg, known := r.registrationOf(t)
	info, err := os.Lstat(t.dir)
	there := err == nil
	if !there && !known {
		return nil
	}
	f := &leftover{run: r, tree: t, facts: r.about(ctx, t), item: reclaim.Item{
		Kind: reclaim.KindWorktree, Job: t.job, Attempt: t.n, Path: t.dir, State: stateOf(t),
	}}
	if known {
		r.y.claimed[reg.GitDir] = true
		f.reg = reg
	}
	if f.folder = there; there && !known {
		f.item.State += ", unknown to git"
	}
	if f.place, err = r.placeOf(t.dir, reg); err != nil {
		f.facts.Unknown, f.facts.By = err.Error(), "ls -la "+shellword.Quote(t.dir)
		return f
	}
	f.facts.Foreign, f.facts.By = r.foreignTree(ctx, f, info)
	if known && reg.Dir != "" && !reg.Names(t.dir) {
		f.item.Path = reg.Dir
	}
	f.facts.Unused = f.facts.Unused && t.ended || reg.Half
	f.opened = there && known && !reg.Half && f.facts.Foreign == ""
	return f
}

// settlePlace finds the worktree and the branch of an attempt that was cut off before
// anything of it was recorded: by the names that they get, where those are there.
func (r *runLeft) settlePlace(t *treeLeft) {
	if t.ofArbiter() { // several attempts may have worked in one tree
		t.dir, t.gitDir = "", ""
	}
	if ref := r.branchOf(t); t.branch == "" {
		t.branch = strings.TrimPrefix(ref.Name, "refs/heads/")
	}
	if t.dir != "" || t.passed {
		return
	}
	for _, root := range r.y.treeRoots(r.dir) {
		dir := filepath.Join(root, t.name())
		if _, err := os.Lstat(dir); err == nil || len(r.y.registeredAt(dir)) > 0 {
			t.dir = dir
			return
		}
	}
}

// registrationOf is what git keeps of an attempt's worktree.
func (r *runLeft) registrationOf(t *treeLeft) (workspace.Registration, bool) {
	if at := r.y.registeredAt(t.dir); len(at) == 1 {
		return at[0], true
	}
	reg, known := r.y.registeredIn(t.gitDir)
	if known && r.anothers(reg) { // git has given the name away since
		return workspace.Registration{}, false
	}
	return reg, known
}

// anothers reports whether a registration is of a worktree that another run made.
func (r *runLeft) anothers(reg workspace.Registration) bool {
	dir := filepath.ToSlash(reg.Dir) + "/"
	return strings.Contains(dir, "/orchestrate-") && !strings.Contains(dir, "/orchestrate-"+r.id+"/")
}

// foreignTree says why a worktree is not as this program left it, and with what command
// a person goes on; "" = it is.
func (r *runLeft) foreignTree(ctx context.Context, f *leftover, info os.FileInfo) (why, by string) {
	t, reg, dir := f.tree, f.reg, f.tree.dir
	switch {
	case f.folder && !info.IsDir():
		return "it is no folder any more: somebody put something else in its place", "ls -l " + shellword.Quote(dir)
	case r.y.repo == nil:
		return "there is no repository here in which what it holds could be saved", statusIn(dir)
	}
	if why, by := r.elsewhere(ctx, f); why != "" {
		return why, by
	}
	switch {
	case reg.Locked:
		return strings.TrimSuffix("somebody locked it: "+reg.Why, ": "), "git worktree unlock " + shellword.Quote(dir)
	case !f.folder && !reg.Half:
		return "", ""
	case reg.GitDir == "" || reg.Half || t.job == ledger.IntegrationJob:
		return r.inUse(dir)
	case reg.Branch != t.branch && r.goneOnIn(t, reg):
		return heirOf(reg.Branch)
	case reg.Branch != t.branch:
		return fmt.Sprintf("somebody switched it: it is on %s", cmp.Or(reg.Branch, "no branch, at "+reg.Commit)), statusIn(dir)
	case t.branch == "" && reg.Commit != t.base && r.y.reached(ctx, reg.Commit) == "":
		return fmt.Sprintf("somebody committed in it: it is at %.12s", reg.Commit), statusIn(dir)
	}
	if why, by := r.moved(t); why != "" {
		return why, by
	}
	return r.inUse(dir)
}

func statusIn(dir string) string { return "git -C " + shellword.Quote(dir) + " status" }

// elsewhere says that the folder at a worktree's place is not the one that was made there:
// the way to it, what git recorded and its own .git have to agree.
func (r *runLeft) elsewhere(ctx context.Context, f *leftover) (why, by string) {
	reg, dir := f.reg, f.tree.dir
	switch {
	case reg.GitDir == "" && !inside(r.dir, dir):
		return "git does not know it as a worktree any more, so nothing proves whose it is", "rm -r " + shellword.Quote(dir)
	case reg.Dir != "" && !reg.Names(dir):
		return "somebody moved it: git has it at " + reg.Dir, r.y.repo.HowToRemove(ctx, reg)
	case reg.Dir != "" && !reg.At(dir):
		return fmt.Sprintf("a link leads from %s to %s: what is there is not known to be what git made", dir, f.place), "ls -ld " + shellword.Quote(filepath.Dir(dir))
	case !f.folder:
		return "", ""
	}
	if err := workspace.Proven(f.place, cmp.Or(reg.GitDir, f.tree.gitDir)); err != nil {
		return err.Error(), "ls -la " + shellword.Quote(dir) + ", and if it is the worktree git worktree repair"
	}
	return "", ""
}

// placeOf is where a worktree's folder is by the links on the way to it: to the run's own
// directory, or to the operator's folder. Below the run's directory there is none.
func (r *runLeft) placeOf(dir string, reg workspace.Registration) (string, error) {
	if rel := relTo(r.dir, dir); reg.Dir == "" && inside(r.dir, dir) {
		home, err := filepath.EvalSymlinks(r.dir)
		return filepath.Join(home, rel), err
	}
	return workspace.Resolved(dir)
}

// moved says that the branch of an attempt is not where it was left.
func (r *runLeft) moved(t *treeLeft) (why, by string) {
	is := r.y.refAt("refs/heads/" + t.branch)
	if t.branch == "" || is == "" || is == t.tip() {
		return "", ""
	}
	name := shellword.Quote(t.branch)
	return fmt.Sprintf("somebody moved its branch: it is at %.12s, and was left at %.12s", is, t.tip()),
		fmt.Sprintf("git log %s, and once its commits are merged git branch -d %s", name, name)
}

// inUse says that a process works in a folder.
func (r *runLeft) inUse(dir string) (why, by string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for _, o := range r.y.busy {
		if inside(dir, o.dir) {
			return fmt.Sprintf("process %d works in it", o.pid), fmt.Sprintf("end process %d", o.pid)
		}
	}
	return "", ""
}

// findBranch is the branch of an attempt, nil = there is none.
func (r *runLeft) findBranch(ctx context.Context, t *treeLeft) *leftover {
	ref := r.branchOf(t)
	if ref.Name == "" {
		return nil
	}
	r.y.claimed[ref.Name] = true
	f := &leftover{run: r, tree: t, facts: r.about(ctx, t), item: reclaim.Item{
		Kind: reclaim.KindBranch, Job: t.job, Attempt: t.n, Branch: t.branch, Commit: ref.Commit, State: stateOf(t),
	}}
	f.facts.Unused = f.facts.Unused && t.ended
	f.facts.Foreign, f.facts.By = r.moved(t)
	if f.facts.Foreign == "" && ref.In != "" && !workspace.Registration.Names(workspace.Registration{Dir: ref.In}, t.dir) {
		f.facts.Foreign, f.facts.By = "it is checked out in "+ref.In, "git -C "+shellword.Quote(ref.In)+" status"
	}
	return f
}

// branchOf finds the branch of an attempt: the recorded one, or for an attempt that was
// cut off before that the one with the name that it gets.
func (r *runLeft) branchOf(t *treeLeft) (found workspace.Ref) {
	for _, ref := range r.y.refs {
		branch, ok := strings.CutPrefix(ref.Name, "refs/heads/")
		expected := t.branch == "" && !t.furnished && ourRef(ref.Name) && strings.HasSuffix(branch, "/"+r.id+"/"+t.name())
		if ok && (branch == t.branch || expected) {
			return ref
		}
	}
	return workspace.Ref{}
}

// findStrays are folders among the run's trees that belong to none of its attempts: those
// of its integrations, and what somebody else put there.
func (r *runLeft) findStrays(ctx context.Context) (all []*leftover) {
	for _, root := range r.y.treeRoots(r.dir) {
		entries, err := os.ReadDir(root)
		if err != nil && !os.IsNotExist(err) {
			r.y.notes = append(r.y.notes, err.Error())
		}
		for _, e := range entries {
			dir := filepath.Join(root, e.Name())
			ours := slices.ContainsFunc(r.trees, func(t *treeLeft) bool { return t.dir == dir })
			if ours || strings.HasPrefix(e.Name(), ".") {
				continue
			}
			all = append(all, r.findStray(ctx, dir))
		}
	}
	return all
}

func (r *runLeft) findStray(ctx context.Context, dir string) *leftover {
	name := filepath.Base(dir)
	if name == ledger.IntegrationJob || strings.HasPrefix(name, ledger.IntegrationJob+".a") {
		t := &treeLeft{job: ledger.IntegrationJob, n: 1, dir: dir, ended: true, furnished: true}
		if f := r.findTree(ctx, t); f != nil {
			f.facts.Observer, f.item.State = true, "of an integration"
			if f.facts.Foreign == "" && r.failed != "" && !r.y.given(r.id, t.job) {
				f.facts.Foreign, f.facts.By = r.failed, fmt.Sprintf("orchestrate clean --discard %s/%s", r.id, t.job)
			}
			return f
		}
	}
	f := &leftover{run: r, item: reclaim.Item{Kind: reclaim.KindWorktree, Path: dir, State: "unknown"}}
	f.facts.Foreign, f.facts.By = "no attempt of its run made it", "ls -la "+shellword.Quote(dir)
	for _, reg := range r.y.registeredAt(dir) {
		r.y.claimed[reg.GitDir] = true
		f.item.Branch, f.facts.By = reg.Branch, r.y.repo.HowToRemove(ctx, reg)
	}
	return f
}

// findPrivate is the folder for temporary files that the run left, nil = none that is ours.
func (r *runLeft) findPrivate() *leftover {
	dir := privateRootOf(r.dir)
	if onlyOurs(dir) != nil {
		return nil
	}
	f := &leftover{run: r, item: reclaim.Item{Kind: reclaim.KindPrivate, Path: dir, State: r.state()}}
	f.facts.Foreign, f.facts.By = r.inUse(dir)
	return f
}
