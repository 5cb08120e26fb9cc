package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"orchestrate/internal/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var day = time.Date(2026, 7, 30, 12, 0, 5, 0, time.UTC)

// newRun makes a run with the given jobs, closed at the end of the test.
func newRun(t testing.TB, jobs ...string) *Run {
	t.Helper()
	r, err := Create(t.TempDir(), day)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	must(t, r.Append(RunStarted(RunInfo{RunID: r.ID, SpecPath: "jobs.yaml", SpecDigest: "ab", Base: "cd", Jobs: jobs})))
	return r
}

func sampleRoute() Route {
	return Route{
		Runtime: "exec", CapabilityFloor: "C1", Risk: "R1", RiskWhy: "effect scoped-write", Isolation: "none",
		Access: "shell", Controls: []string{}, Constrained: []string{}, Why: "pinned",
		Candidates: []Candidate{{Runtime: "exec", Chosen: true, Reasons: []string{"pinned"}}},
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func settled(id string, attempts int, s Status, why runtime.Reason) Record {
	return Settle(JobStatus{SchemaVersion: 1, ID: id, Attempts: attempts, Status: s, Reason: why})
}

func TestRunDirectoryIsPrivateAndNamedByTime(t *testing.T) {
	root := t.TempDir()
	a, err := Create(root, day)
	must(t, err)
	b, err := Create(root, day)
	must(t, err)
	defer func() { must(t, errors.Join(a.Close(), b.Close())) }()
	if a.ID != "20260730-120005" || b.ID != "20260730-120005-2" {
		t.Errorf("ids %q and %q", a.ID, b.ID)
	}
	if want := filepath.Join(root, "plans/reports/orchestrate-20260730-120005"); a.Dir != want {
		t.Errorf("directory %s, want %s", a.Dir, want)
	}
	info, err := os.Stat(a.Dir)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestGitStatusNeverShowsARun(t *testing.T) {
	root := t.TempDir()
	git(t, root, "init", "-q")
	r, err := Create(root, day)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(root, ReportsDir, HistoryFile), []byte("{}\n"), 0o600))
	if out := git(t, root, "status", "--porcelain", "-uall"); out != "" {
		t.Errorf("git status shows\n%s", out)
	}
	if note := HistoryShown(root); note != "" {
		t.Errorf("note %q", note)
	}
	must(t, r.Close())
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestForeignIgnoreFileIsLeftAloneAndReported(t *testing.T) {
	for text, hidden := range map[string]bool{
		"":                                  false,
		"*.tmp\n":                           false,
		"*\n":                               true,
		"# x\n/orchestrate-history.jsonl\n": true,
		"*.jsonl\n!orchestrate-*\n":         false,
	} {
		root := t.TempDir()
		name := filepath.Join(root, ReportsDir, ignoreFile)
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, []byte(text), 0o600))
		if note := HistoryShown(root); hidden != (note == "") {
			t.Errorf("%q: note %q", text, note)
		}
		r, err := Create(root, day)
		must(t, err)
		if got, _ := os.ReadFile(name); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
		must(t, r.Close())
	}
}

func TestARunHasOneOwnerUntilItEnds(t *testing.T) {
	r := newRun(t)
	if owned, err := Owned(r.Dir); err != nil || !owned {
		t.Errorf("live run: owned %v, %v", owned, err)
	}
	must(t, r.Close())
	if owned, err := Owned(r.Dir); err != nil || owned {
		t.Errorf("closed run: owned %v, %v", owned, err)
	}
	if err := r.Append(Noted("", "late")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("append after close: %v", err)
	}
}

func TestFindWantsAPathOrAnID(t *testing.T) {
	root := t.TempDir()
	if _, err := Find(root, ""); err == nil || !strings.Contains(err.Error(), "no run yet") {
		t.Errorf("nothing named, nothing there: %v", err)
	}
	r, err := Create(root, day)
	must(t, err)
	must(t, r.Close())
	fromRoot := ReportsDir + "/orchestrate-" + r.ID // as reports name it, wherever the person is
	for _, arg := range []string{r.ID, "orchestrate-" + r.ID, r.Dir, fromRoot} {
		if dir, err := Find(root, arg); err != nil || dir != r.Dir {
			t.Errorf("Find(%q) = %q, %v", arg, dir, err)
		}
	}
	for _, arg := range []string{"", "20260730", "../" + r.ID} {
		if _, err := Find(root, arg); err == nil || !strings.Contains(err.Error(), r.ID) {
			t.Errorf("Find(%q) should name the runs there are: %v", arg, err)
		}
	}
}

func TestSecondAttemptMovesTheFirstAside(t *testing.T) {
	r := newRun(t, "a")
	dir, lock, err := r.BeginAttempt("a", 1)
	must(t, err)
	must(t, r.WriteJSON("a/status.json", JobStatus{ID: "a", Attempts: 1, Status: Failed}))
	must(t, r.WriteFile("a/artifacts/x/report.md", []byte("one")))
	r.patience = 0
	if _, _, err := r.BeginAttempt("a", 2); !errors.Is(err, ErrHeld) {
		t.Fatalf("attempt 2 beside a living attempt 1: %v", err)
	}
	must(t, lock.Close())
	dir2, lock2, err := r.BeginAttempt("a", 2)
	must(t, err)
	defer lock2.Close()
	if dir2 != dir || dir != r.JobDir("a") {
		t.Errorf("directories %s and %s", dir, dir2)
	}
	if got, _ := os.ReadFile(r.Path("a/attempt-1/artifacts/x/report.md")); string(got) != "one" {
		t.Errorf("attempt 1's artifact is %q", got)
	}
	must(t, r.WriteJSON("a/status.json", JobStatus{ID: "a", Attempts: 2, Status: Success}))
	all, err := r.Attempts("a")
	must(t, err)
	if len(all) != 2 || all[0].Status != Failed || all[1].Attempts != 2 {
		t.Errorf("attempts %+v", all)
	}
}

func TestAttemptsAreOnlyOfPlainNames(t *testing.T) {
	r := newRun(t, "a")
	for _, id := range []string{"", ".", "..", "../x", "a/b", "/x"} {
		if _, _, err := r.BeginAttempt(id, 1); err == nil {
			t.Errorf("an attempt of %q began", id)
		}
	}
}

func TestWritesStayInTheRunDirectory(t *testing.T) {
	r := newRun(t, "a")
	outside := t.TempDir()
	must(t, r.MkdirAll("a"))
	must(t, os.Symlink(outside, r.Path("a/artifacts")))
	must(t, os.Symlink(filepath.Join(outside, "f"), r.Path("a/output.md")))
	for _, rel := range []string{"../x", "a/artifacts/x"} {
		if err := r.WriteFile(rel, []byte("x")); err == nil {
			t.Errorf("%s was written", rel)
		}
	}
	must(t, r.WriteFile("a/output.md", []byte("mine"))) // the link itself is replaced
	if names, _ := os.ReadDir(outside); len(names) != 0 {
		t.Errorf("outside has %v", names)
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(r.Dir), "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file beside the run directory: %v", err)
	}
}

func TestWritesLeaveNoTemporaryFile(t *testing.T) {
	r := newRun(t, "a")
	must(t, r.MkdirAll("a/status.json/mine")) // a program put a folder in the way
	must(t, r.WriteFile("a/status.json", []byte("{}")))
	if data, err := r.ReadFile("a/status.json"); err != nil || string(data) != "{}" {
		t.Errorf("status.json holds %q, %v", data, err)
	}
	if found, err := filepath.Glob(r.Path("a/.status.json.*.found/mine")); err != nil || len(found) != 1 {
		t.Errorf("what was in the way is in %v, %v", found, err)
	}
	must(t, r.WriteFile("spec.yaml", []byte("v")))
	err := filepath.WalkDir(r.Dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	must(t, err)
}

func TestAppendIsReadableByOthersAtOnce(t *testing.T) {
	r := newRun(t, "a", "b")
	must(t, r.Append(Intent("a", 1, Route{Runtime: "exec"}), Started("a", 1, 42, 7)))
	other, err := Open(r.Dir)
	must(t, err)
	defer other.Close()
	if diff := cmp.Diff(r.State(), other.State()); diff != "" {
		t.Errorf("owner and reader differ:\n%s", diff)
	}
	for _, err := range []error{other.Append(Noted("", "x")), other.WriteFile("x", nil)} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("a reader wrote: %v", err)
		}
	}
}

func TestNotesComeBeforeTheNextAppend(t *testing.T) {
	r := newRun(t, "a")
	var seen []string
	r.Follow(func(rec Record) { seen = append(seen, rec.Text.Unshown()) })
	must(t, r.Note(Noted("a", "first")))
	must(t, r.Append(Noted("", "second")))
	var onDisk []string
	recs, err := Records(r.Dir)
	must(t, err)
	for _, rec := range recs {
		if rec.Kind == KindNote {
			onDisk = append(onDisk, rec.Text.Unshown())
		}
	}
	want := []string{"first", "second"}
	if !cmp.Equal(seen, want) || !cmp.Equal(onDisk, want) {
		t.Errorf("followers saw %q, the journal has %q", seen, onDisk)
	}
}

func TestManyNotesDoNotWaitInMemory(t *testing.T) {
	r := newRun(t, "a")
	big := strings.Repeat("x", noteBound)
	must(t, r.Note(Noted("", big)))
	data, err := os.ReadFile(r.Path(JournalFile))
	must(t, err)
	if !strings.Contains(string(data), big) {
		t.Error("a large note is not in the file")
	}
}

func TestConcurrentAppendsKeepOneOrder(t *testing.T) {
	var ids []string
	for i := range 64 {
		ids = append(ids, "j"+string(rune('A'+i%26))+string(rune('a'+i/26)))
	}
	r := newRun(t, ids...)
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() {
			for _, rec := range []Record{Intent(id, 1, Route{Runtime: "exec"}), Started(id, 1, 1, 0), settled(id, 1, Success, "")} {
				if err := r.Append(rec); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s, err := Replay(r.Dir)
	must(t, err)
	if s.Seq != 1+3*64 || s.Count(Success) != 64 {
		t.Errorf("seq %d, %d succeeded", s.Seq, s.Count(Success))
	}
}

func TestAFailedJournalStopsTheRun(t *testing.T) {
	r, err := Create(t.TempDir(), day)
	must(t, err)
	must(t, r.Append(RunStarted(RunInfo{RunID: r.ID})))
	must(t, r.journal.file.Close()) // as a disk that has gone
	for range 2 {
		if err := r.Append(Noted("", "x")); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("append on a dead disk: %v", err)
		}
	}
	if err := r.Close(); err == nil {
		t.Error("close says nothing of it")
	}
}

func TestSnapshotTrailsAndIsExactWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, "a", "b")
		time.Sleep(2 * snapshotInterval)
		must(t, r.Append(Intent("a", 1, Route{Runtime: "exec"})))
		time.Sleep(2 * snapshotInterval)
		compareSnapshot(t, r)
		must(t, r.Append(settled("b", 0, Blocked, runtime.BlockedDependency)))
		must(t, r.Close())
		compareSnapshot(t, r)
	})
}

func compareSnapshot(t *testing.T, r *Run) {
	t.Helper()
	data, err := os.ReadFile(r.Path(StateFile))
	must(t, err)
	var got State
	must(t, json.Unmarshal(data, &got))
	if diff := cmp.Diff(r.State(), got); diff != "" {
		t.Errorf("state.json differs:\n%s", diff)
	}
	if lines := bytes.Count(data, []byte("\n")); lines != len(got.Jobs)+2 {
		t.Errorf("%d lines for %d jobs:\n%s", lines, len(got.Jobs), data)
	}
}

func TestStateIsACopy(t *testing.T) {
	r := newRun(t, "a")
	s := r.State()
	s.Jobs[0].ID = "changed"
	if r.State().Jobs[0].ID != "a" {
		t.Error("a caller changed the ledger")
	}
}

func TestEmptyStateEncodes(t *testing.T) {
	var buf bytes.Buffer
	must(t, State{}.encode(&buf))
	if !json.Valid(buf.Bytes()) || !strings.Contains(buf.String(), `"jobs":[`) {
		t.Errorf("%s", buf.String())
	}
}
