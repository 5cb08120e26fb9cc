package engine

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/process"
	"orchestrate/internal/reclaim"
	"orchestrate/internal/workspace"
)

// What a killed git, a person or a crash can leave of a worktree is told apart, and goes
// by the same rules.
func TestTreesThatAreNotWholeAreExplained(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(f *field, tree *workspace.Tree)
		without string // why it stays, or may go, when it was not given up
	}{
		"its folder is gone":   {func(f *field, tree *workspace.Tree) { f.must(os.RemoveAll(tree.Dir)) }, "did not succeed"},
		"git has forgotten it": {func(f *field, tree *workspace.Tree) { f.must(os.RemoveAll(tree.Place().GitDir)) }, "did not succeed"},
		"git had not come to the end of it": {func(f *field, tree *workspace.Tree) {
			f.write(tree.Place().GitDir, "locked", "initializing")
			f.write(tree.Place().GitDir, "commondir", "")
		}, "nobody worked in it"},
		"its branch is gone": {func(f *field, tree *workspace.Tree) {
			f.git("update-ref", "-d", "refs/heads/"+tree.Branch)
		}, "did not succeed"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "bad")
			f.attempt("bad", 1, ledger.Failed)
			f.end()
			c.change(f, f.tree["bad"])
			if it := of(f.list(), reclaim.KindWorktree, "bad"); !strings.Contains(it.Why, c.without) {
				t.Errorf("listed: %+v", it)
			}
			l := f.clean(f.led.ID)
			if it := of(l, reclaim.KindRun, ""); !it.Done {
				t.Errorf("the run stays: %+v", l.Items)
			}
			f.gone(f.led.Dir, f.tree["bad"].Place().GitDir)
			if got := f.git("log", "--all", "--format=%H", "--", "bad.txt"); !strings.Contains(got, f.work["bad"].Commit) {
				t.Errorf("its work is lost: %q", got)
			}
			f.git("fsck", "--strict")
			f.git("worktree", "list")
		})
	}
}

// A folder that does not prove to be the tree that was made stays, whatever was given up,
// and with it the run that says whose it is.
func TestWhatDoesNotProveToBeTheTreeStays(t *testing.T) {
	mine := func(f *field) string {
		dir, err := filepath.EvalSymlinks(f.t.TempDir())
		f.must(err)
		f.write(dir, "bad/file", "mine")
		return dir
	}
	for name, c := range map[string]struct {
		change func(f *field, tree string)
		why    string
	}{
		"its .git is somebody else's": {func(f *field, tree string) { f.write(tree, ".git", "gitdir: /nowhere\n") }, "its .git says"},
		"its .git is gone":            {func(f *field, tree string) { f.must(os.Remove(filepath.Join(tree, ".git"))) }, "it has no .git"},
		"a link leads to it": {func(f *field, tree string) {
			f.must(os.Rename(filepath.Dir(tree), filepath.Join(f.t.TempDir(), "was")))
			f.must(os.Symlink(mine(f), filepath.Dir(tree)))
		}, "a link leads from"},
		"git has forgotten it, and a link leads to another": {func(f *field, tree string) {
			f.must(os.RemoveAll(f.tree["bad"].Place().GitDir))
			f.must(os.Rename(filepath.Dir(tree), filepath.Join(f.t.TempDir(), "was")))
			f.must(os.Symlink(mine(f), filepath.Dir(tree)))
		}, "nothing proves"},
		"git was cut off at it, and a link leads to another": {func(f *field, tree string) {
			f.write(f.tree["bad"].Place().GitDir, "locked", "initializing")
			f.write(f.tree["bad"].Place().GitDir, "commondir", "")
			f.must(os.Rename(filepath.Dir(tree), filepath.Join(f.t.TempDir(), "was")))
			f.must(os.Symlink(mine(f), filepath.Dir(tree)))
		}, "a link leads from"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "bad")
			f.attempt("bad", 1, ledger.Failed)
			f.end()
			tree := f.tree["bad"].Dir
			f.write(tree, "file", "mine")
			c.change(f, tree)
			l := f.clean(f.led.ID)
			f.fate(l, reclaim.KindWorktree, "bad", reclaim.Keep, c.why)
			if data, err := os.ReadFile(filepath.Join(tree, "file")); err != nil || string(data) != "mine" {
				t.Errorf("%q, %v", data, err)
			}
			if it := of(l, reclaim.KindRun, ""); it.Done {
				t.Errorf("the run is gone: %+v", it)
			}
		})
	}
}

// A name that git gave to a tree of a later run says nothing about the earlier one.
func TestARegistrationThatGitGaveToALaterRunIsNotTheEarlierOnes(t *testing.T) {
	f := newField(t, "bad")
	f.attempt("bad", 1, ledger.Failed)
	f.end()
	gone := f.tree["bad"].Dir
	f.git("worktree", "remove", "--force", gone)
	later := f.dir + "/plans/reports/orchestrate-20260102-030406/worktrees/bad"
	f.git("worktree", "add", "-q", "--detach", later)
	if l := f.clean(f.led.ID); !of(l, reclaim.KindRun, "").Done {
		t.Errorf("stays: %+v", l.Items)
	}
	if _, err := os.Stat(later); err != nil {
		t.Error(err)
	}
}

// observe has a job look at a tree of its own, and leave it.
func (f *field) observe(job string) *workspace.Tree {
	f.t.Helper()
	f.must(f.led.Append(ledger.Intent(job, 1, ledger.Route{Runtime: "exec", Isolation: isolationWorktree})))
	_, lock, err := f.led.BeginAttempt(job, 1)
	f.must(err)
	defer lock.Close()
	tree, err := f.repo.AddWorktree(f.t.Context(), f.led.Path(ledger.WorktreesDir, job), "", f.base)
	f.must(err)
	f.must(f.led.Furnish(job, lock, ledger.Furnished{Dir: tree.Dir, Top: tree.Dir, Tree: tree.Dir, GitDir: tree.Place().GitDir, Base: f.base, Isolated: true}))
	where, now := "worktrees/"+job, time.Now().UTC()
	rec := ledger.Settle(ledger.JobStatus{SchemaVersion: 1, ID: job, Attempts: 1, Status: ledger.Success, Worktree: &where, EndedAt: &now})
	rec.Work = &ledger.Work{Base: f.base}
	f.must(f.led.Append(rec))
	return tree
}

func TestTreesOfThoseWhoOnlyLookedGo(t *testing.T) {
	f := newField(t, "look", "dirty")
	look, dirty := f.observe("look"), f.observe("dirty")
	f.end()
	f.write(dirty.Dir, "mine.txt", "put there by a person\n")
	l := f.clean()
	f.gone(look.Dir, dirty.Dir)
	if it := of(l, reclaim.KindWorktree, "look"); it.Saved != "" || !strings.Contains(it.Why, "only looked") {
		t.Errorf("got %+v", it)
	}
	if got := f.git("show", salvagePrefix+f.led.ID+"/dirty:mine.txt"); got != "put there by a person" {
		t.Errorf("saved %q", got)
	}
}

func TestATreeThatSomebodyWorksInStays(t *testing.T) {
	f := newField(t, "bad")
	f.attempt("bad", 1, ledger.Failed)
	f.end()
	cmd := exec.Command("sleep", "60")
	cmd.Dir = f.tree["bad"].Dir
	f.must(cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if len(occupants()) == 0 {
		return // this system does not say where processes work
	}
	f.fate(f.clean(f.led.ID), reclaim.KindWorktree, "bad", reclaim.Keep, "works in it")
	if _, err := os.Stat(f.tree["bad"].Dir); err != nil {
		t.Error(err)
	}
}

// The tree in which an integration ran its checks goes, unless a person is to look at it.
func TestTheTreeOfAnIntegrationGoes(t *testing.T) {
	for _, failed := range []bool{false, true} {
		f := newField(t, "a")
		f.attempt("a", 1, ledger.Success)
		f.end()
		f.integrated("a")
		dir := f.led.Path(ledger.WorktreesDir, ledger.TreeName(ledger.IntegrationJob, 2))
		_, err := f.repo.AddWorktree(t.Context(), dir, "", f.base)
		f.must(err)
		if failed {
			f.write(f.led.Dir, filepath.Join(ledger.IntegrationJob, ledger.IntegrationFile), `{"outcome":"refused","checks":[{"status":"failed"}]}`)
		}
		l := f.clean()
		if it := of(l, reclaim.KindWorktree, ledger.IntegrationJob); it.Done == failed {
			t.Errorf("failed %v: %+v", failed, it)
		}
		if l = f.clean(f.led.ID); !of(l, reclaim.KindRun, "").Done {
			t.Errorf("stays: %+v", l.Items)
		}
	}
}

// The check of an integration whose engine died goes on, wherever it works by now.
func TestNothingGoesWhileACheckOfAnIntegrationMayRun(t *testing.T) {
	f := newField(t, "a")
	f.attempt("a", 1, ledger.Success)
	f.integrated("a")
	_, lock, err := f.led.BeginAttempt(ledger.IntegrationJob, 1)
	f.must(err)
	dir := f.led.Path(ledger.WorktreesDir, ledger.TreeName(ledger.IntegrationJob, 1))
	_, err = f.repo.AddWorktree(t.Context(), dir, "", f.base)
	f.must(err)
	f.must(os.Mkdir(privateRootOf(f.led.Dir), 0o700))
	f.end()
	held := f.list(f.led.ID)
	f.fate(held, reclaim.KindRun, "", reclaim.Remove, "")
	for _, it := range f.clean(f.led.ID).Items { // its lock is held
		if it.Done || it.Fate != reclaim.Keep || !strings.Contains(it.Why, "may still run") {
			t.Errorf("held: %+v", it)
		}
	}
	f.must(lock.Close())
	check := exec.Command("sleep", "60")
	f.must(check.Start())
	defer check.Wait()
	who, ok := process.Of(check.Process.Pid)
	if !ok {
		t.Fatal("the check does not live")
	}
	line, err := json.Marshal(map[string]any{"supervisor": who})
	f.must(err)
	at := f.led.Path(ledger.IntegrationJob, ledger.AttemptLockFile)
	was, err := os.ReadFile(at)
	f.must(err)
	f.must(os.WriteFile(at, append(append(was, line...), '\n'), 0o600))
	for _, it := range f.list(f.led.ID).Items { // it lives
		if it.Fate != reclaim.Keep || !strings.Contains(it.Why, "may still run") || strings.Contains(it.Next, "cancel") {
			t.Errorf("it lives: %+v", it)
		}
	}
	f.must(check.Process.Kill())
	_ = check.Wait()
	f.fate(f.list(f.led.ID), reclaim.KindPrivate, "", reclaim.Keep, "not proven to have ended")
	f.must(os.WriteFile(at, append(append(append(was, line...), '\n'), "{\"over\":true}\n"...), 0o600))
	if l := f.clean(f.led.ID); !of(l, reclaim.KindRun, "").Done {
		t.Errorf("it has ended: %+v", l.Items)
	}
}

func TestTreesOutsideOfTheCheckoutGoToo(t *testing.T) {
	f := newField(t, "a")
	root := filepath.Join(t.TempDir(), "trees")
	f.eng.Operator.WorktreeRoot = root
	f.must(f.led.Append(ledger.Intent("a", 1, ledger.Route{Runtime: "exec", Isolation: isolationWorktree})))
	dir := filepath.Join(root, "orchestrate-"+f.led.ID, "a")
	_, err := f.repo.AddWorktree(t.Context(), dir, "orchestrate/"+f.led.ID+"/a", f.base) // and then the engine is killed
	f.must(err)
	f.must(f.led.Close())
	f.fate(f.list(), reclaim.KindWorktree, "a", reclaim.Keep, "can be resumed")
	if l := f.clean(f.led.ID); !of(l, reclaim.KindRun, "").Done {
		t.Errorf("stays: %+v", l.Items)
	}
	f.gone(dir, filepath.Dir(dir))
	if _, err := os.Stat(root); err != nil {
		t.Errorf("the operator's own folder: %v", err)
	}
	if refs := f.git("for-each-ref", "--format=%(refname)"); refs != "refs/heads/main" {
		t.Errorf("refs:\n%s", refs)
	}
}

// A submodule's files are in no commit of the repository: they are saved as plain files.
func TestWorkInASubmoduleIsSaved(t *testing.T) {
	f := newField(t, "bad")
	f.must(f.led.Close())
	sub := filepath.Join(t.TempDir(), "sub")
	f.must(os.Mkdir(sub, 0o700))
	f.git("init", "-q", "-b", "main", sub)
	f.write(sub, "lib.c", "one\n")
	f.git("-C", sub, "add", "-A")
	f.git("-C", sub, "commit", "-q", "-m", "sub")
	f.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub, "lib")
	f.git("commit", "-q", "-m", "with a submodule")
	led, err := ledger.Create(f.dir, time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC))
	f.must(err)
	f.led, f.base = led, f.git("rev-parse", "HEAD")
	f.must(led.Append(ledger.RunStarted(ledger.RunInfo{RunID: led.ID, Base: f.base, Jobs: []string{"bad", "clean"}, Dir: led.Dir, Cwd: f.dir})))
	f.attempt("bad", 1, ledger.Failed)
	f.attempt("clean", 1, ledger.Failed)
	f.end()
	f.write(f.tree["bad"].Dir, "lib/lib.c", "two\n")
	f.write(f.tree["bad"].Dir, "lib/new.c", "three\n")
	l := f.clean(led.ID)
	if it := of(l, reclaim.KindRun, ""); it.Run == led.ID && !it.Done {
		t.Errorf("stays: %+v", l.Items)
	}
	ref := salvagePrefix + led.ID + "/bad"
	if got := f.git("show", ref+":lib/lib.c", ref+":lib/new.c"); got != "two\nthree" {
		t.Errorf("saved %q", got)
	}
	if got := f.git("ls-tree", salvagePrefix+led.ID+"/clean", "lib"); !strings.HasPrefix(got, "160000 ") {
		t.Errorf("a submodule in which nothing changed was saved as %q", got)
	}
}

// What an earlier clean saved is as old as that.
func TestWhatWasSavedHasAnAge(t *testing.T) {
	f := newField(t, "bad")
	f.attempt("bad", 1, ledger.Failed)
	f.end()
	f.write(f.tree["bad"].Dir, "later.txt", "x\n")
	was := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	f.eng.Now = func() time.Time { return was }
	f.clean(f.led.ID)
	if it := of(f.list(), reclaim.KindSalvage, ""); !it.At.Equal(was) {
		t.Errorf("got %+v", it)
	}
}
