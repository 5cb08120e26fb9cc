package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/reclaim"
)

// newCall is a field whose run is a call of a worker run.
func newCall(t *testing.T, jobs ...string) *field {
	t.Helper()
	f := newField(t, jobs...)
	f.end() // of a run of the other form, which is there beside it
	dir := filepath.Join(f.dir, filepath.FromSlash(ledger.WorkerRunsDir), "20260704-141530")
	f.write(dir, ledger.WorkerFile, "{}")
	f.write(filepath.Join(f.dir, ".orchestrate"), ".gitignore", "*\n")
	led, err := ledger.CreateIn(f.dir, dir)
	f.must(err)
	f.led = led
	f.must(f.led.Append(ledger.RunStarted(ledger.RunInfo{RunID: led.ID, Base: f.base, Jobs: jobs, Dir: led.Dir, Cwd: f.dir, Worker: dir})))
	return f
}

func TestWhatCallsOfAWorkerRunLeftIsCleanedLikeThatOfARun(t *testing.T) {
	f := newCall(t, "a", "bad")
	f.attempt("a", 1, ledger.Success)
	f.attempt("bad", 1, ledger.Failed)
	f.integrated("a")
	for _, it := range f.clean(f.led.ID + "/bad").Items { // this process has the call
		if it.Run == f.led.ID && (it.Fate != reclaim.Keep || !strings.Contains(it.Why, "carries its run on")) {
			t.Errorf("of a live call: %+v", it)
		}
	}
	f.end()
	for _, it := range f.list().Items {
		if it.Run != f.led.ID && it.Kind != reclaim.KindRun {
			t.Errorf("it is not known as the call's: %+v", it)
		}
	}
	l := f.clean()
	f.fate(l, reclaim.KindWorktree, "a", reclaim.Remove, "refs/heads/main")
	f.fate(l, reclaim.KindWorktree, "bad", reclaim.Keep, "did not succeed")
	f.gone(f.tree["a"].Dir)
	tree := f.tree["bad"].Dir
	f.write(tree, "later.txt", "in no commit\n")
	f.clean(f.led.ID + "/bad")
	f.gone(tree)
	if got := f.git("show", salvagePrefix+f.led.ID+"/bad:later.txt"); got != "in no commit" {
		t.Errorf("saved %q", got)
	}
	f.clean(f.led.ID)
	f.gone(f.led.Dir)
	if _, err := os.Stat(filepath.Join(f.dir, ledger.WorkerRunsDir, "20260704-141530", ledger.WorkerFile)); err != nil {
		t.Errorf("the worker run went with its call: %v", err)
	}
	if status := f.git("status", "--porcelain"); status != "" {
		t.Errorf("status:\n%s", status)
	}
}
