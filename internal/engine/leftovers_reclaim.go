package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/reclaim"
	"orchestrate/internal/sandbox/private"
	"orchestrate/internal/secret"
	"orchestrate/internal/workspace"
)

// Reclaim removes what the listing says may go, each looked at once more just before, and
// saves first what no commit holds. done is told of each item.
func (e *Engine) Reclaim(ctx context.Context, req CleanRequest, l reclaim.Listing, done func(reclaim.Item)) (reclaim.Listing, error) {
	l.Items = slices.Clone(l.Items)
	y, err := e.enterYard(ctx, req)
	if err != nil {
		return l, err
	}
	c := &cleaner{yard: y, done: done}
	dirs, err := ledger.EveryRunDir(y.root)
	if err != nil {
		return l, err
	}
	c.sweep(dirs, l.Items)
	for _, dir := range dirs {
		if ctx.Err() != nil {
			break
		}
		c.ofRun(ctx, dir, l.Items)
	}
	l.DryRun = false
	l.Sum()
	l.Notes = append(slices.Clone(l.Notes), y.notes...)
	return l, ctx.Err()
}

// cleaner removes what may go.
type cleaner struct {
	*yard
	done   func(reclaim.Item)
	redact *secret.Redactor
	copied map[*runLeft][]string // secrets in what a run copied, before anything of it goes
}

// told is what became of an item.
func (c *cleaner) told(it *reclaim.Item, err error) {
	if err != nil {
		it.Fate, it.Why = reclaim.Keep, "it could not be removed: "+err.Error()
	}
	it.Done = err == nil
	c.done(*it)
}

// stays says why an item is kept after all.
func (c *cleaner) stays(it *reclaim.Item, d reclaim.Decision) {
	it.Fate, it.Why, it.Next = reclaim.Keep, d.Why, d.Next
	c.done(*it)
}

// sweep goes on with what a clean before had begun to remove.
func (c *cleaner) sweep(dirs []string, items []reclaim.Item) {
	for _, gone := range c.halfRemoved(dirs) {
		i := slices.IndexFunc(items, func(it reclaim.Item) bool { return it.Path == gone.Path && it.Fate == reclaim.Remove })
		if i >= 0 {
			c.told(&items[i], workspace.RemoveGone(gone.Path))
		}
	}
}

// ofRun removes what may go of one run, as its owner: no engine resumes it meanwhile.
func (c *cleaner) ofRun(ctx context.Context, dir string, items []reclaim.Item) {
	wanted := map[string]*reclaim.Item{}
	for i := range items {
		it := &items[i]
		if it.Fate == reclaim.Remove && !it.Done && "orchestrate-"+it.Run == filepath.Base(dir) {
			wanted[identity(*it)] = it
		}
	}
	if len(wanted) == 0 {
		return
	}
	r := c.readRun(dir, ledger.Reopen, true)
	defer r.release()
	r.takeLocks()
	r.putBack()
	if err := c.look(ctx); err != nil {
		r.unknown = err.Error()
	}
	found := c.find(ctx, r)
	for _, f := range found {
		if it := wanted[identity(f.item)]; it != nil && f.item.Kind != reclaim.KindRun && ctx.Err() == nil {
			delete(wanted, identity(f.item))
			c.reclaim(ctx, r, f, it)
		}
	}
	if ctx.Err() != nil {
		return
	}
	own := wanted[identity(found[0].item)]
	delete(wanted, identity(found[0].item))
	for _, it := range wanted { // somebody has removed it meanwhile
		c.told(it, nil)
	}
	if own != nil {
		c.reclaimRun(ctx, r, found, own)
	}
}

// identity tells the items of a run apart.
func identity(it reclaim.Item) string {
	return fmt.Sprintf("%s\x00%s\x00%d\x00%s\x00%s", it.Kind, it.Job, it.Attempt, it.Path, it.Branch)
}

// takeLocks takes the locks of the run's attempts, so that nothing of it still runs.
func (r *runLeft) takeLocks() {
	if r.led == nil {
		return
	}
	jobs := []string{ledger.IntegrationJob}
	for _, t := range r.trees {
		jobs = append(jobs, t.job)
	}
	slices.Sort(jobs)
	for _, job := range slices.Compact(jobs) {
		lock, err := r.led.Retake(job)
		switch {
		case errors.Is(err, ledger.ErrHeld) && r.live == "":
			r.live, r.ends = fmt.Sprintf("job %s may still run: its lock is held", job), "wait until its processes have ended"
		case errors.Is(err, ledger.ErrHeld):
		case err == nil:
			r.locks = append(r.locks, lock)
		case !errors.Is(err, fs.ErrNotExist):
			r.unknown = err.Error()
		}
	}
}

// putBack gives worktrees their places back that a clean before was looking at for the last
// time when it was cut off: what was written there late is not saved yet.
func (r *runLeft) putBack() {
	if r.led == nil || r.live != "" || r.unknown != "" {
		return
	}
	for _, root := range r.y.real(r.y.treeRoots(r.dir)) {
		if err := workspace.PutBack(root); err != nil {
			r.unknown = err.Error()
		}
	}
}

// release gives the run up.
func (r *runLeft) release() {
	for _, lock := range r.locks {
		_ = lock.Close() // nothing was written through it
	}
	r.locks = nil
	if err := r.close(); err != nil {
		r.y.notes = append(r.y.notes, err.Error())
	}
	r.led = nil
}

// reclaim removes one thing that a run has left, if it still may go.
func (c *cleaner) reclaim(ctx context.Context, r *runLeft, f *leftover, it *reclaim.Item) {
	if f.item.Kind == reclaim.KindBranch && f.facts.Foreign == "" && r.stands(f.tree) {
		f.facts.Foreign, f.facts.By = "its worktree stays", ""
	}
	if d := reclaim.Decide(f.facts); d.Fate != reclaim.Remove {
		c.stays(it, d)
		return
	}
	var err error
	switch f.item.Kind {
	case reclaim.KindWorktree:
		err = c.reclaimTree(ctx, r, f, it)
	case reclaim.KindBranch:
		err = c.reclaimBranch(ctx, r, f, it)
	case reclaim.KindPrivate:
		err = removePrivate(f.item.Path)
	}
	f.item.Done = err == nil
	c.told(it, err)
}

// stands reports whether something of an attempt's worktree is still there.
func (r *runLeft) stands(t *treeLeft) bool {
	if t.dir == "" || t.passed {
		return false
	}
	if _, err := os.Lstat(t.dir); !errors.Is(err, fs.ErrNotExist) {
		return true
	}
	reg, known := r.registrationOf(t)
	if !known {
		return false
	}
	_, err := os.Lstat(reg.GitDir)
	return !errors.Is(err, fs.ErrNotExist)
}

// reclaimTree saves what is in a worktree, says so, and removes it.
func (c *cleaner) reclaimTree(ctx context.Context, r *runLeft, f *leftover, it *reclaim.Item) (err error) {
	if it.Saved, err = c.saveTree(ctx, r, f); err != nil {
		return err
	}
	if err := r.note(it, false); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // what was begun is done, also when the person interrupts
	last := func(gone string) error { return c.saveLate(ctx, r, f, it, gone) }
	if err := c.repo.RemoveSaved(ctx, f.place, cmp.Or(f.reg.GitDir, f.tree.gitDir), last); err != nil {
		return err
	}
	return r.note(it, true)
}

// saveLate saves what was written in a worktree while it was saved, once it is at the place
// of those that go.
func (c *cleaner) saveLate(ctx context.Context, r *runLeft, f *leftover, it *reclaim.Item, gone string) error {
	late := *f
	late.place = gone
	more, err := c.saveTree(ctx, r, &late)
	had := strings.Split(it.Saved, ", ")
	for _, as := range strings.Split(more, ", ") {
		if as != "" && !slices.Contains(had, as) {
			it.Saved = strings.TrimPrefix(it.Saved+", "+as, ", ")
		}
	}
	return err
}

// reclaimBranch deletes a branch. A commit that nothing else would lead to keeps a ref.
func (c *cleaner) reclaimBranch(ctx context.Context, r *runLeft, f *leftover, it *reclaim.Item) (err error) {
	kept, err := c.repo.ReachedFrom(ctx, f.item.Commit, func(ref string) bool {
		return ref != "refs/heads/"+f.item.Branch && (lastingRef(ref) || strings.HasPrefix(ref, salvagePrefix))
	})
	if err != nil {
		return err
	}
	if kept == "" {
		if it.Saved, err = c.saveCommit(ctx, r, f); err != nil {
			return err
		}
	}
	if err := r.note(it, false); err != nil {
		return err
	}
	if err := c.repo.DeleteBranch(ctx, f.item.Branch, f.item.Commit); err != nil {
		return err
	}
	return r.note(it, true)
}

// note records what is about to go, or has gone, in the run's reclaimed.json.
func (r *runLeft) note(it *reclaim.Item, done bool) error {
	e := ledger.ReclaimedItem{
		Kind: it.Kind, Job: it.Job, Attempt: it.Attempt, Path: it.Path, Branch: it.Branch, Commit: it.Commit,
		Why: it.Why, Saved: it.Saved, Done: done, At: r.y.eng.Now().UTC().Round(0),
	}
	same := func(o ledger.ReclaimedItem) bool {
		return !o.Done && o.Kind == e.Kind && o.Job == e.Job && o.Attempt == e.Attempt && o.Path == e.Path
	}
	r.begun.SchemaVersion = ledger.SchemaVersion
	r.begun.Items = append(slices.DeleteFunc(r.begun.Items, same), e)
	return r.led.WriteJSON(ledger.ReclaimedFile, r.begun)
}

// removePrivate removes what dead attempts left of temporary files.
func removePrivate(root string) error {
	if err := onlyOurs(root); err != nil {
		return err
	}
	entries, err := os.ReadDir(root)
	for _, e := range entries {
		err = errors.Join(err, private.Remove(filepath.Join(root, e.Name())))
	}
	return errors.Join(err, os.Remove(root))
}

// reclaimRun removes the run directory, when nothing else of the run is left.
func (c *cleaner) reclaimRun(ctx context.Context, r *runLeft, found []*leftover, it *reclaim.Item) {
	d := reclaim.Decide(found[0].facts)
	left := 0
	for _, f := range append(found[1:], c.unclaimed(ctx)...) {
		if f.item.Run == r.id && f.item.Kind != reclaim.KindSalvage && !f.item.Done {
			left++
		}
	}
	if d.Fate == reclaim.Remove && left > 0 {
		d = reclaim.Decision{Fate: reclaim.Keep, Why: fmt.Sprintf("it says whose the %d other leftovers are that stay", left)}
	}
	if d.Fate != reclaim.Remove {
		c.stays(it, d)
		return
	}
	c.told(it, c.removeRun(r))
}

// removeRun removes the directory that the run was read from, and no other one that may
// be in its place by now.
func (c *cleaner) removeRun(r *runLeft) error {
	is, err := r.identity()
	if err != nil {
		return err
	}
	dir, err := workspace.Resolved(r.dir)
	if err != nil {
		return err
	}
	for _, root := range c.treeRoots(r.dir) {
		if info, err := os.Lstat(root); err == nil && info.IsDir() {
			_ = os.Remove(root) // one that holds nothing any more; whatever else it is stays
		}
	}
	// Set aside while it is ours, so that nobody takes it up; where a folder in use cannot
	// be renamed, in the moment after.
	gone, err := workspace.SetRunAside(dir, is)
	r.release()
	if err == nil && gone != "" {
		return workspace.RemoveGone(gone)
	}
	return workspace.RemoveRun(dir, is)
}

// identity tells the run's open directory from any other.
func (r *runLeft) identity() (is fs.FileInfo, err error) {
	own, err := r.led.OpenDir(".")
	if err != nil {
		return nil, err
	}
	is, err = own.Stat(".")
	return is, errors.Join(err, own.Close())
}
