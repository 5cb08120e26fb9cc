package ledger

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// workerRun makes the folder of a worker run with one call.
func workerRun(t *testing.T, root, id string) *Run {
	t.Helper()
	dir := filepath.Join(root, filepath.FromSlash(WorkerRunsDir), id)
	must(t, os.MkdirAll(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, WorkerFile), []byte("{}"), 0o600))
	r, err := CreateIn(root, dir)
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	return r
}

func TestACallIsFoundByItsIDAndItsPath(t *testing.T) {
	root := t.TempDir()
	r := workerRun(t, root, "20260704-141530")
	if r.ID != "20260704-141530-c1" {
		t.Errorf("the id of the first call is %s", r.ID)
	}
	for _, arg := range []string{r.ID, "orchestrate-" + r.ID, r.Dir, ".orchestrate/runs/20260704-141530/calls/orchestrate-" + r.ID} {
		if got, err := Find(root, arg); err != nil || got != r.Dir {
			t.Errorf("%s: found %s, %v", arg, got, err)
		}
	}
	for _, arg := range []string{"20260704-141530", "20260704-141530-c2", "20260704-141530-c", "-c1", "x-c1/../y"} {
		if got, err := Find(root, arg); err == nil {
			t.Errorf("%s: found %s", arg, got)
		}
	}
}

func TestALaterCallHasAHigherNumber(t *testing.T) {
	root := t.TempDir()
	for n := 1; n <= 11; n++ {
		workerRun(t, root, "w")
	}
	must(t, os.RemoveAll(DirOf(root, "w-c3")))
	if r := workerRun(t, root, "w"); r.ID != "w-c12" {
		t.Errorf("after eleven, of which one was cleaned away, comes %s", r.ID)
	}
}

func TestEveryRunIsThereWithTheCallsOfWorkerRuns(t *testing.T) {
	root := t.TempDir()
	plain, err := Create(root, time.Date(2026, 7, 30, 12, 0, 5, 0, time.UTC))
	must(t, err)
	defer plain.Close()
	call := workerRun(t, root, "20260704-141530")
	must(t, os.MkdirAll(filepath.Join(root, ".orchestrate", "runs", "somebodys", "calls", "orchestrate-x"), 0o700))
	got, err := EveryRunDir(root)
	must(t, err)
	if want := []string{plain.Dir, call.Dir}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if got, err := RunDirs(root); err != nil || !slices.Equal(got, []string{plain.Dir}) {
		t.Errorf("runs alone: %q, %v", got, err)
	}
}

func TestAPathSaysWhoseItIs(t *testing.T) {
	for _, c := range []struct {
		path, root, run string
		ok              bool
	}{
		{"/w/plans/reports/orchestrate-20260730-120005/worktrees/a", "/w", "20260730-120005", true},
		{"/w/.orchestrate/runs/20260704-141530/calls/orchestrate-20260704-141530-c3/worktrees/a", "/w", "20260704-141530-c3", true},
		{"/w/.orchestrate/runs/20260704-141530/tasks/a", "", "", false},
		{"/w/.orchestrate/runs/x/y/calls/orchestrate-z/worktrees/a", "", "", false},
		{"/w/plans/reports/specs/a", "", "", false},
		{"/w/src", "", "", false},
	} {
		root, run, ok := Within(filepath.FromSlash(c.path))
		if filepath.ToSlash(root) != c.root || run != c.run || ok != c.ok {
			t.Errorf("%s: %q %q %v", c.path, root, run, ok)
		}
	}
}
