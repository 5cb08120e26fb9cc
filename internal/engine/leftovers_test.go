package engine

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/integrate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/reclaim"
	"orchestrate/internal/runtime"
	"orchestrate/internal/supervise"
	"orchestrate/internal/workspace"
)

// field is a repository with one run in it, as an engine would have left it: every job
// is a writer with a tree of its own.
type field struct {
	t    *testing.T
	eng  *Engine
	dir  string
	repo *workspace.Repo
	led  *ledger.Run
	base string
	tree map[string]*workspace.Tree
	work map[string]workspace.Patch
}

func newField(t *testing.T, jobs ...string) *field {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &field{t: t, dir: dir, eng: &Engine{Now: time.Now}, tree: map[string]*workspace.Tree{}, work: map[string]workspace.Patch{}}
	f.git("init", "-q", "-b", "main")
	f.write(dir, ".gitignore", "*.out\n")
	f.git("add", "-A")
	f.git("commit", "-q", "-m", "base")
	f.repo, err = workspace.Open(t.Context(), dir)
	f.must(err)
	f.base, err = f.repo.Resolve(t.Context(), "HEAD")
	f.must(err)
	f.led, err = ledger.Create(dir, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	f.must(err)
	f.must(f.led.Append(ledger.RunStarted(ledger.RunInfo{RunID: f.led.ID, Base: f.base, Jobs: jobs, Dir: f.led.Dir, Cwd: dir})))
	return f
}

func (f *field) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *field) git(args ...string) string {
	f.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=P", "-c", "user.email=p@example.invalid"}, args...)...)
	cmd.Dir = f.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (f *field) write(dir, name, text string) {
	f.t.Helper()
	full := filepath.Join(dir, name)
	f.must(os.MkdirAll(filepath.Dir(full), 0o755))
	f.must(os.WriteFile(full, []byte(text), 0o600))
}

// attempt has a job write a file of its name in a tree of its own, and end so.
func (f *field) attempt(job string, n int, how ledger.Status, artifacts ...ledger.Artifact) {
	f.t.Helper()
	f.must(f.led.Append(ledger.Intent(job, n, ledger.Route{Runtime: "exec", Isolation: isolationWorktree})))
	_, lock, err := f.led.BeginAttempt(job, n)
	f.must(err)
	defer lock.Close()
	name := ledger.TreeName(job, n)
	tree, err := f.repo.AddWorktree(f.t.Context(), f.led.Path(ledger.WorktreesDir, name), ledger.BranchName("orchestrate", f.led.ID, job, n), f.base)
	f.must(err)
	at := tree.Place()
	f.must(f.led.Furnish(job, lock, ledger.Furnished{Dir: tree.Dir, Top: tree.Dir, Tree: tree.Dir, GitDir: at.GitDir, Branch: at.Branch, Base: f.base, Isolated: true}))
	f.write(tree.Dir, job+".txt", name+"\n")
	p, err := tree.Capture(f.t.Context(), workspace.CaptureRequest{Message: job})
	f.must(err)
	f.tree[name], f.work[name] = tree, p
	where, now := "worktrees/"+name, time.Now().UTC()
	rec := ledger.Settle(ledger.JobStatus{
		SchemaVersion: 1, ID: job, Attempts: n, Status: how, Runtime: "exec", Worktree: &where, Branch: &at.Branch,
		Proof: &ledger.Proof{Level: string(supervise.ProofSubreaper), Gone: true}, Artifacts: artifacts, EndedAt: &now,
	})
	if how == ledger.Failed {
		rec.Reason, rec.Settled.Reason = runtime.ReasonCrash, runtime.ReasonCrash
	}
	rec.Work = &ledger.Work{Base: p.Base, Commit: p.Commit}
	f.must(f.led.Append(rec))
}

func (f *field) end() {
	f.t.Helper()
	f.must(f.led.Append(ledger.RunEnded("pass", 0)))
	f.must(f.led.Close())
}

// integrated merges an attempt's work as integrate would, and leaves its record.
func (f *field) integrated(job string) {
	f.t.Helper()
	f.git("merge", "-q", "--no-ff", "-m", "merge", f.work[job].Commit)
	f.record(job)
}

// record says that HEAD has the work of a job by way of an integration.
func (f *field) record(job string) {
	f.t.Helper()
	commit := f.work[job].Commit
	data, err := json.Marshal(integrate.Integration{SchemaVersion: 1, Outcome: integrate.Integrated, Jobs: []integrate.Work{{Job: job, Commit: commit, Done: f.git("rev-parse", "HEAD")}}})
	f.must(err)
	f.write(f.led.Dir, filepath.Join(ledger.IntegrationJob, ledger.IntegrationFile), string(data))
}

func (f *field) list(discard ...string) reclaim.Listing {
	f.t.Helper()
	l, err := f.eng.Leftovers(f.t.Context(), CleanRequest{Cwd: f.dir, Discard: discard})
	f.must(err)
	return l
}

// clean lists and removes, as `clean --yes` does.
func (f *field) clean(discard ...string) reclaim.Listing {
	f.t.Helper()
	l, err := f.eng.Reclaim(f.t.Context(), CleanRequest{Cwd: f.dir, Discard: discard}, f.list(discard...), func(reclaim.Item) {})
	f.must(err)
	return l
}

// of is the item of a kind and job; a missing one is none at all.
func of(l reclaim.Listing, kind, job string) reclaim.Item {
	i := slices.IndexFunc(l.Items, func(it reclaim.Item) bool { return it.Kind == kind && it.Job == job })
	if i < 0 {
		return reclaim.Item{}
	}
	return l.Items[i]
}

func (f *field) fate(l reclaim.Listing, kind, job, fate, why string) {
	f.t.Helper()
	if it := of(l, kind, job); it.Fate != fate || !strings.Contains(it.Why, why) {
		f.t.Errorf("%s %s: %s because %q, want %s because %q", kind, job, it.Fate, it.Why, fate, why)
	}
}

func (f *field) gone(paths ...string) {
	f.t.Helper()
	for _, p := range paths {
		if _, err := os.Lstat(p); !os.IsNotExist(err) {
			f.t.Errorf("%s is there: %v", p, err)
		}
	}
}

func TestOnlyWhatIsIntegratedGoes(t *testing.T) {
	f := newField(t, "a", "b", "bad")
	f.attempt("a", 1, ledger.Success)
	f.attempt("b", 1, ledger.Success)
	f.attempt("bad", 1, ledger.Failed)
	f.end()
	f.fate(f.list(), reclaim.KindWorktree, "a", reclaim.Keep, "not integrated")
	f.integrated("a")
	before := f.git("for-each-ref")
	l := f.list()
	f.fate(l, reclaim.KindRun, "", reclaim.Keep, "evidence")
	f.fate(l, reclaim.KindWorktree, "a", reclaim.Remove, "refs/heads/main")
	f.fate(l, reclaim.KindBranch, "a", reclaim.Remove, "refs/heads/main")
	f.fate(l, reclaim.KindWorktree, "b", reclaim.Keep, "not integrated")
	f.fate(l, reclaim.KindBranch, "bad", reclaim.Keep, "did not succeed")
	if after := f.git("for-each-ref"); after != before || l.Bytes == 0 || l.Removable == 0 || of(l, reclaim.KindWorktree, "a").At.IsZero() {
		t.Errorf("a listing changed refs, or has no sizes: %+v", l)
	}
	l = f.clean()
	if it := of(l, reclaim.KindWorktree, "a"); !it.Done || it.Saved != "" {
		t.Errorf("got %+v", it)
	}
	f.gone(f.tree["a"].Dir, f.tree["a"].Place().GitDir)
	if refs := f.git("for-each-ref", "--format=%(refname)"); strings.Contains(refs, "/a") || !strings.Contains(refs, "/b") || strings.Contains(refs, "salvage") {
		t.Errorf("refs:\n%s", refs)
	}
	if status := f.git("status", "--porcelain"); status != "" {
		t.Errorf("status:\n%s", status)
	}
	// Integrated is what is there now: the person takes the merge back.
	f.integrated("b")
	f.git("reset", "-q", "--hard", f.base)
	f.fate(f.list(), reclaim.KindWorktree, "b", reclaim.Keep, "not integrated")
}

func TestWhatIsDiscardedIsSavedFirst(t *testing.T) {
	const value = "correct-horse-battery-staple-4711"
	f := newField(t, "bad", "good")
	f.eng.Env = []string{"MY_SERVICE_TOKEN=" + value}
	f.attempt("bad", 1, ledger.Failed, ledger.Artifact{Path: "result.out", Source: "tree"})
	f.attempt("good", 1, ledger.Success)
	f.end()
	tree := f.tree["bad"].Dir
	f.write(tree, "later.txt", "token "+value+"\n")
	f.write(tree, "result.out", "what git ignores\n")
	f.fate(f.list(), reclaim.KindWorktree, "bad", reclaim.Keep, "did not succeed")
	if it := of(f.list(), reclaim.KindWorktree, "bad"); it.Dirty != 1 {
		t.Errorf("%d files are said to be in no commit", it.Dirty)
	}
	l := f.clean(f.led.ID + "/bad")
	f.fate(l, reclaim.KindWorktree, "good", reclaim.Keep, "")
	f.gone(tree)
	ref := salvagePrefix + f.led.ID + "/bad"
	if got := f.git("show", ref+":later.txt"); !strings.Contains(got, value) {
		t.Errorf("saved %q", got)
	}
	saved := filepath.Join(f.dir, ledger.ReportsDir, ledger.SalvageDir)
	patch, err := os.ReadFile(filepath.Join(saved, f.led.ID+"-bad.patch"))
	if err != nil || strings.Contains(string(patch), value) || !strings.Contains(string(patch), "bad.txt") {
		t.Errorf("the patch: %v\n%s", err, patch)
	}
	output, err := os.ReadFile(filepath.Join(saved, f.led.ID+"-bad", "result.out"))
	if err != nil || string(output) != "what git ignores\n" {
		t.Errorf("the output: %q, %v", output, err)
	}
	for _, part := range []string{ref, f.led.ID + "-bad.patch", f.led.ID + "-bad"} {
		if it := of(l, reclaim.KindWorktree, "bad"); !strings.Contains(it.Saved, part) {
			t.Errorf("%q does not name %s", it.Saved, part)
		}
	}
	// The commit that was judged is not lost either.
	f.git("merge-base", "--is-ancestor", f.work["bad"].Commit, salvagePrefix+f.led.ID+"/bad-2")
	if l = f.clean(f.led.ID); !of(l, reclaim.KindRun, "").Done {
		t.Errorf("the run directory stays: %+v", of(l, reclaim.KindRun, ""))
	}
	f.gone(f.led.Dir)
	if status := f.git("status", "--porcelain"); status != "" {
		t.Errorf("status:\n%s", status)
	}
	f.git("fsck", "--strict")
}

// A clean that was cut off after any of its steps is gone on with, without being told
// again what was given up.
func TestACleanThatWasCutOffIsGoneOnWith(t *testing.T) {
	for name, steps := range map[string]int{"the tree is set aside": 1, "git has forgotten it": 2, "its branch is gone": 3} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "bad")
			f.attempt("bad", 1, ledger.Failed)
			f.end()
			f.write(f.tree["bad"].Dir, "later.txt", "x\n")
			f.cut("bad", steps)
			l := f.clean()
			for _, it := range l.Items {
				if it.Kind != reclaim.KindRun && it.Kind != reclaim.KindSalvage && !it.Done {
					t.Errorf("stays: %+v", it)
				}
			}
			f.gone(f.tree["bad"].Dir, f.tree["bad"].Place().GitDir)
			if left, err := workspace.GoneIn(f.led.Path(ledger.WorktreesDir)); err != nil || len(left) > 0 {
				t.Errorf("half removed: %v, %v", left, err)
			}
			if got := f.git("show", salvagePrefix+f.led.ID+"/bad:later.txt"); got != "x" {
				t.Errorf("saved %q", got)
			}
			if refs := f.git("for-each-ref", "--format=%(refname)", "refs/heads"); refs != "refs/heads/main" {
				t.Errorf("branches:\n%s", refs)
			}
		})
	}
}

// cut does the first steps of a clean of a discarded job, and no more.
func (f *field) cut(job string, steps int) {
	f.t.Helper()
	y, err := f.eng.enterYard(f.t.Context(), CleanRequest{Cwd: f.dir, Discard: []string{f.led.ID + "/" + job}})
	f.must(err)
	c := &cleaner{yard: y, done: func(reclaim.Item) {}}
	r := c.readRun(f.led.Dir, ledger.Reopen, true)
	defer r.release()
	for _, l := range y.find(f.t.Context(), r) {
		it := l.item
		switch {
		case l.item.Kind == reclaim.KindWorktree:
			it.Saved, err = c.saveTree(f.t.Context(), r, l)
			f.must(err)
			f.must(r.note(&it, false))
			is, err := os.Stat(l.tree.dir)
			f.must(err)
			_, err = workspace.SetRunAside(l.tree.dir, is)
			f.must(err)
			if steps > 1 {
				f.must(f.repo.RemoveTree(f.t.Context(), l.tree.dir, l.reg.GitDir))
			}
		case l.item.Kind == reclaim.KindBranch && steps > 2:
			it.Saved, err = c.saveCommit(f.t.Context(), r, l)
			f.must(err)
			f.must(r.note(&it, false))
			f.must(f.repo.DeleteBranch(f.t.Context(), it.Branch, it.Commit))
		case l.item.Kind == reclaim.KindBranch:
			f.must(r.note(&it, false))
		}
	}
}

func TestWhatIsNotAsItWasLeftStays(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *field, tree *workspace.Tree)
		why    string
	}{
		"a commit of somebody's": {func(f *field, tree *workspace.Tree) {
			f.write(tree.Dir, "mine.txt", "x")
			f.git("-C", tree.Dir, "add", "-A")
			f.git("-C", tree.Dir, "commit", "-q", "-m", "mine")
		}, "moved its branch"},
		"another branch": {func(f *field, tree *workspace.Tree) { f.git("-C", tree.Dir, "switch", "-q", "-c", "mine") }, "switched it"},
		"a lock":         {func(f *field, tree *workspace.Tree) { f.git("worktree", "lock", "--reason", "why", tree.Dir) }, "locked it: why"},
		"moved": {func(f *field, tree *workspace.Tree) {
			f.git("worktree", "move", tree.Dir, filepath.Join(f.t.TempDir(), "x"))
		}, "moved it"},
		"a file in its place": {func(f *field, tree *workspace.Tree) {
			f.must(os.Rename(tree.Dir, tree.Dir+".x"))
			f.must(os.WriteFile(tree.Dir, nil, 0o600))
		}, "no folder any more"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "bad")
			f.attempt("bad", 1, ledger.Failed)
			f.end()
			c.change(f, f.tree["bad"])
			before := f.git("for-each-ref") + f.git("worktree", "list")
			l := f.clean(f.led.ID)
			f.fate(l, reclaim.KindWorktree, "bad", reclaim.Keep, c.why)
			f.fate(l, reclaim.KindBranch, "bad", reclaim.Keep, "")
			f.fate(l, reclaim.KindRun, "", reclaim.Keep, "other leftovers")
			if after := f.git("for-each-ref") + f.git("worktree", "list"); after != before {
				t.Errorf("git has changed:\n%s\n%s", before, after)
			}
		})
	}
}

func TestNothingOfALiveOrUnfinishedRunGoes(t *testing.T) {
	f := newField(t, "a", "b")
	f.attempt("a", 1, ledger.Success)
	f.integrated("a")
	l := f.clean(f.led.ID) // this process has the run
	for _, it := range l.Items {
		if it.Fate != reclaim.Keep || !strings.Contains(it.Why, "carries its run on") {
			t.Errorf("got %+v", it)
		}
	}
	f.must(f.led.Close()) // without an end: it was cut off
	l = f.clean()
	f.fate(l, reclaim.KindWorktree, "a", reclaim.Keep, "can be resumed")
	f.fate(l, reclaim.KindRun, "", reclaim.Keep, "can be resumed")
	if l = f.clean(f.led.ID); !of(l, reclaim.KindRun, "").Done {
		t.Errorf("discarded, it stays: %+v", l.Items)
	}
}

// The listing is old by the time that somebody has said yes: each thing is looked at
// again.
func TestWhatChangedSinceItWasListedStays(t *testing.T) {
	f := newField(t, "bad")
	f.attempt("bad", 1, ledger.Failed)
	f.end()
	old := f.list(f.led.ID)
	f.git("worktree", "lock", f.tree["bad"].Dir)
	var told []reclaim.Item
	l, err := f.eng.Reclaim(t.Context(), CleanRequest{Cwd: f.dir, Discard: []string{f.led.ID}}, old, func(it reclaim.Item) { told = append(told, it) })
	f.must(err)
	f.fate(l, reclaim.KindWorktree, "bad", reclaim.Keep, "locked")
	if len(told) != 3 || slices.ContainsFunc(told, func(it reclaim.Item) bool { return it.Done }) {
		t.Errorf("told %+v", told)
	}
}

func TestAttemptsBeforeOneThatIsIntegratedGo(t *testing.T) {
	f := newField(t, "a")
	f.attempt("a", 1, ledger.Failed)
	// A retry is another attempt of a job that has not settled.
	f.end()
	led, err := ledger.Reopen(f.led.Dir, func(ledger.Record) error { return nil })
	f.must(err)
	f.led = led
	f.must(led.Append(ledger.Resumed(true), ledger.Requeued("a", "again")))
	f.attempt("a", 2, ledger.Success)
	f.end()
	f.work["a"] = f.work["a.a2"]
	f.integrated("a")
	l := f.clean()
	for _, it := range l.Items {
		if it.Kind != reclaim.KindRun && !it.Done {
			t.Errorf("stays: %+v", it)
		}
	}
	f.git("rev-parse", "--verify", salvagePrefix+f.led.ID+"/a") // nothing else leads to what it did
}

// Work that was integrated as a patch is on the branch by another commit: the one that
// was judged keeps a ref, or a resume would do it again one day.
func TestAJudgedCommitIsKeptWhenItsPatchIsIntegrated(t *testing.T) {
	f := newField(t, "a")
	f.attempt("a", 1, ledger.Success)
	f.end()
	f.git("cherry-pick", "-n", f.work["a"].Commit)
	f.git("commit", "-q", "-m", "as a patch")
	f.record("a")
	l := f.clean()
	if it := of(l, reclaim.KindBranch, "a"); !it.Done || it.Saved != salvagePrefix+f.led.ID+"/a" {
		t.Errorf("got %+v", it)
	}
	if got := f.git("rev-parse", salvagePrefix+f.led.ID+"/a"); got != f.work["a"].Commit {
		t.Errorf("the ref is at %s", got)
	}
}

// A repository can have several checkouts, each with runs of its own.
func TestWhatIsOfAnotherCheckoutIsCleanedThere(t *testing.T) {
	f := newField(t, "a")
	f.attempt("a", 1, ledger.Success)
	f.end()
	second := filepath.Join(t.TempDir(), "second")
	f.git("worktree", "add", "-q", "--detach", second)
	l, err := f.eng.Leftovers(t.Context(), CleanRequest{Cwd: second})
	f.must(err)
	f.fate(l, reclaim.KindWorktree, "", reclaim.Keep, "of the workspace "+f.dir)
	f.fate(l, reclaim.KindBranch, "", reclaim.Keep, "of the workspace "+f.dir)
}

func TestABranchAlreadyMergedByHandIsNamed(t *testing.T) {
	f := newField(t, "a")
	f.attempt("a", 1, ledger.Success)
	f.end()
	f.git("merge", "-q", f.work["a"].Commit)
	f.fate(f.list(), reclaim.KindBranch, "a", reclaim.Keep, "no integration of this run says so")
}

// What only a stash leads to is nowhere: dropped, it is lost.
func TestAStashIsNoPlaceForWork(t *testing.T) {
	f := newField(t, "a")
	f.attempt("a", 1, ledger.Success)
	f.end()
	f.integrated("a")
	f.write(f.dir, "a.txt", "more\n")
	f.git("stash", "-q")
	f.git("reset", "-q", "--hard", f.base)
	l := f.clean()
	f.fate(l, reclaim.KindWorktree, "a", reclaim.Keep, "not integrated")
	f.fate(l, reclaim.KindBranch, "a", reclaim.Keep, "not integrated")
	f.clean(f.led.ID + "/a")
	f.git("stash", "drop", "-q")
	if f.git("for-each-ref", "--contains", f.work["a"].Commit) == "" {
		t.Error("no ref leads to the work any more")
	}
}

// Only the run says how an integration that was cut off is finished.
func TestNothingOfARunWhoseIntegrationWasCutOffGoes(t *testing.T) {
	f := newField(t, "a")
	f.attempt("a", 1, ledger.Success)
	f.end()
	f.integrated("a")
	f.write(f.dir, ".git/index.lock", "orchestrate moves this checkout to "+f.base+"\n")
	if notes := strings.Join(f.list().Notes, "\n"); !strings.Contains(notes, "index.lock: of an integration of which no run here tells") {
		t.Errorf("the lock is not explained:\n%s", notes)
	}
	f.write(f.led.Dir, filepath.Join(ledger.IntegrationJob, ledger.IntentFile), `{"runId":"`+f.led.ID+`"}`)
	l := f.clean(f.led.ID)
	if notes := strings.Join(l.Notes, "\n"); !strings.Contains(notes, "index.lock: of the integration of run "+f.led.ID) {
		t.Errorf("the lock is not explained:\n%s", notes)
	}
	for _, it := range l.Items {
		if it.Done || it.Fate != reclaim.Keep || !strings.Contains(it.Why, "was cut off") || !strings.Contains(it.Next, "orchestrate integrate "+f.led.ID) {
			t.Errorf("got %+v", it)
		}
	}
}

func TestWhatGitHasOfNoRunIsListedAndStays(t *testing.T) {
	f := newField(t, "a")
	f.end()
	own := filepath.Join(t.TempDir(), "own")
	f.git("worktree", "add", "-q", "-b", "orchestrate/20200101-000000/x", own)
	l := f.clean(f.led.ID)
	f.fate(l, reclaim.KindBranch, "", reclaim.Keep, "no run of this workspace")
	f.fate(l, reclaim.KindWorktree, "", reclaim.Keep, "no run of this workspace")
	if it := of(l, reclaim.KindBranch, ""); strings.Contains(it.Next, "-D") {
		t.Errorf("somebody's branch would be deleted with what is in it: %s", it.Next)
	}
	if _, err := os.Stat(own); err != nil {
		t.Error(err)
	}
}

func TestARunThatCannotBeReadStays(t *testing.T) {
	f := newField(t, "a")
	f.attempt("a", 1, ledger.Success)
	f.end()
	f.must(os.WriteFile(f.led.Path(ledger.JournalFile), []byte("{}\n"), 0o600))
	l := f.clean(f.led.ID)
	f.fate(l, reclaim.KindRun, "", reclaim.Keep, "cannot be read")
	if _, err := os.Stat(f.tree["a"].Dir); err != nil {
		t.Error(err)
	}
}

func TestTemporaryFilesOfADeadRunGo(t *testing.T) {
	f := newField(t, "a")
	f.end()
	root := privateRootOf(f.led.Dir)
	f.must(os.Mkdir(root, 0o700))
	f.must(os.Mkdir(filepath.Join(root, "job-1"), 0o700))
	l := f.clean()
	if it := of(l, reclaim.KindPrivate, ""); it.Done {
		t.Errorf("a folder of another name was removed: %+v", it)
	}
	f.must(os.Remove(filepath.Join(root, "job-1")))
	if it := of(f.clean(), reclaim.KindPrivate, ""); !it.Done {
		t.Errorf("got %+v", it)
	}
	f.gone(root)
}
