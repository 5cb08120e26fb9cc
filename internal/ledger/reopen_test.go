package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/process"
)

// cutOff is a run whose engine died while job a was at attempt 2 and b had succeeded;
// c was blocked, d is queued.
func cutOff(t *testing.T) *whole {
	t.Helper()
	w, r := begin(t, "a", "b", "c", "d")
	w.attempt(t, r, "a", 1)
	w.end(t, r, AttemptEnded(JobStatus{SchemaVersion: 1, ID: "a", Attempts: 1, Status: Failed}))
	w.attempt(t, r, "a", 2)
	w.attempt(t, r, "b", 1)
	w.end(t, r, settled("b", 1, Success, ""))
	w.end(t, r, settled("c", 0, Blocked, ""))
	w.stop(t, r)
	return w
}

func (w *whole) write(t testing.TB, rel, text string) {
	t.Helper()
	name := filepath.Join(w.dir, filepath.FromSlash(rel))
	must(t, os.MkdirAll(filepath.Dir(name), 0o700))
	must(t, os.WriteFile(name, []byte(text), 0o600))
}

func (w *whole) remove(t testing.TB, rels ...string) {
	t.Helper()
	for _, rel := range rels {
		must(t, os.RemoveAll(filepath.Join(w.dir, rel)))
	}
}

// replace changes one text in a file.
func (w *whole) replace(t testing.TB, rel, old, text string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, rel))
	must(t, err)
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s has no %s:\n%s", rel, old, data)
	}
	w.write(t, rel, strings.Replace(string(data), old, text, 1))
}

func TestWhatTheJournalDoesNotKnowIsNamed(t *testing.T) {
	w := cutOff(t)
	restore := keep(t, w.dir)
	for name, c := range map[string]struct {
		change func()
		says   []string
	}{
		"a snapshot that is ahead":       {func() { w.replace(t, StateFile, `"seq":`, `"seq":9`) }, []string{"state.json includes record 9"}},
		"a snapshot of another run":      {func() { w.replace(t, StateFile, `"runId":"`, `"runId":"x`) }, []string{"state.json at record", "run x"}},
		"another status in the snapshot": {func() { w.replace(t, StateFile, `"id":"d","status":"queued"`, `"id":"d","status":"success"`) }, []string{`"d" is success at attempt 0; the journal: job "d" is queued`}},
		"another attempt":                {func() { w.replace(t, StateFile, `"attempt":2`, `"attempt":3`) }, []string{"attempt 3", "attempt 2"}},
		"a lock of a later attempt":      {func() { w.write(t, "d/attempt.lock", `{"attempt":1}`+"\n") }, []string{"d/attempt.lock is of attempt 1; the journal knows of 0"}},
		"an exit of a later attempt":     {func() { w.write(t, "b/exit.json", `{"attempt":2}`) }, []string{"b/exit.json is of attempt 2; the journal knows of 1"}},
		"a status of a later attempt":    {func() { w.replace(t, "b/status.json", `"attempts": 1`, `"attempts": 2`) }, []string{"b/status.json is of attempt 2"}},
		"a status nobody recorded":       {func() { w.replace(t, "a/attempt-1/status.json", `"attempts": 1`, `"attempts": 2`) }, []string{"a/attempt-1/status.json says failed at attempt 2"}},
		"another end":                    {func() { w.replace(t, "b/status.json", `"success"`, `"failed"`) }, []string{"b/status.json says failed at attempt 1; the journal does not"}},
		"a job that was never settled":   {func() { w.write(t, "d/status.json", `{"attempts":0,"status":"blocked"}`) }, []string{"d/status.json says blocked at attempt 0"}},
		"an older attempt too many":      {func() { must(t, os.Mkdir(w.dir+"/a/attempt-2", 0o700)) }, []string{"a/attempt-2", "is of attempt 3; the journal knows of 2"}},
		"the arbiter":                    {func() { w.write(t, "arbiter/exit.json", `{"attempt":1}`) }, []string{"arbiter/exit.json is of attempt 1; the journal knows of 0"}},
		"a job of another run":           {func() { w.write(t, "z/exit.json", `{"attempt":1}`) }, []string{"z/exit.json"}},
		"everything at once": {func() {
			w.replace(t, StateFile, `"id":"d","status":"queued"`, `"id":"d","status":"success"`)
			w.write(t, "d/attempt.lock", `{"attempt":1}`+"\n")
			w.replace(t, "b/status.json", `"success"`, `"failed"`)
		}, []string{"state.json", "d/attempt.lock", "b/status.json"}},
	} {
		c.change()
		before := tree(t, w.dir)
		_, err := Reopen(w.dir, nil)
		var loss *LossError
		if !errors.As(err, &loss) || err.Error() != loss.Error() {
			t.Errorf("%s: %v", name, err)
		}
		for _, text := range append(c.says, w.dir, "nothing is started", SpecFile) {
			if err != nil && !strings.Contains(err.Error(), text) {
				t.Errorf("%s: no %q in\n%v", name, text, err)
			}
		}
		if diff := cmp.Diff(before, tree(t, w.dir)); diff != "" {
			t.Errorf("%s: refused, and changed:\n%s", name, diff)
		}
		restore()
	}
}

func TestWhatACrashLeavesIsNoLoss(t *testing.T) {
	w := cutOff(t)
	restore := keep(t, w.dir)
	for name, change := range map[string]func(){
		"nothing amiss":                  func() {},
		"no snapshot":                    func() { w.remove(t, StateFile) },
		"no status, no exit":             func() { w.remove(t, "b/status.json", "a/exit.json", "b/exit.json") },
		"the newest attempt's directory": func() { w.remove(t, "a") },
		"its lock":                       func() { w.remove(t, "a/attempt.lock") },
		"an empty lock":                  func() { w.write(t, "a/attempt.lock", "") },
		"a status of the attempt before": func() { w.write(t, "a/status.json", `{"attempts":1,"status":"failed"}`) },
		"files that a power loss tore":   func() { w.write(t, "b/status.json", ""); w.write(t, "b/exit.json", "{") },
		"an arbiter's folder":            func() { w.write(t, "arbiter/evidence.md", "x") },
		"a folder of something else":     func() { w.write(t, "notes/x", "x") },
		"a run.lock that is gone":        func() { w.remove(t, RunLockFile) },
	} {
		change()
		r, err := Reopen(w.dir, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(w.states[len(w.states)-1], r.State()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		must(t, r.Close())
		restore()
	}
}

func TestATornRecordIsCutOffAndTold(t *testing.T) {
	w := cutOff(t)
	w.write(t, JournalFile, string(w.journal)+`{"schemaVersion":1,"seq":`)
	w.write(t, "a/.status.json.7.tmp", "half")
	w.write(t, ".state.json.1.tmp", "half")
	w.write(t, "a/checks/.1.json.3.tmp", "half")
	w.write(t, "a/.exit.json.tmp", "a supervisor's")
	r, err := Reopen(w.dir, nil)
	must(t, err)
	if notes := strings.Join(r.Notes(), "\n"); !strings.Contains(notes, "25 bytes of a record") {
		t.Errorf("notes %q", notes)
	}
	must(t, r.Append(Resumed(true)))
	must(t, r.Close())
	recs, err := Records(w.dir)
	if err != nil || recs[len(recs)-1].Kind != KindResumed || !recs[len(recs)-1].RetryFailed {
		t.Errorf("%v, %+v", err, recs[len(recs)-1])
	}
	for name := range tree(t, w.dir) {
		if strings.HasSuffix(name, ".tmp") != strings.HasSuffix(name, ".exit.json.tmp") {
			t.Errorf("left behind: %s", name)
		}
	}
}

func TestAVisitorsErrorEndsIt(t *testing.T) {
	w := cutOff(t)
	stop := errors.New("enough")
	if _, err := Reopen(w.dir, func(Record) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}

func TestARunIsGoneOnWithOnlyWhereItWasStarted(t *testing.T) {
	w := cutOff(t)
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(filepath.Dir(w.dir), link))
	r, err := Reopen(filepath.Join(link, filepath.Base(w.dir)), nil)
	must(t, err)
	if r.Dir != w.dir {
		t.Errorf("by a link it is in %s", r.Dir)
	}
	must(t, r.Close())

	other := filepath.Join(t.TempDir(), filepath.Base(w.dir))
	must(t, os.CopyFS(other, os.DirFS(w.dir)))
	var moved *MovedError
	if _, err := Reopen(other, nil); !errors.As(err, &moved) || !moved.Copied || !strings.Contains(err.Error(), "belongs to "+w.dir) {
		t.Errorf("a copy: %v", err)
	}
	must(t, os.RemoveAll(w.dir))
	if _, err := Reopen(other, nil); !errors.As(err, &moved) || moved.Copied || !strings.Contains(err.Error(), "move it back") {
		t.Errorf("moved: %v", err)
	}
	must(t, os.Rename(other, w.dir))
	r, err = Reopen(w.dir, nil)
	must(t, err)
	must(t, r.Close())
}

func TestOnlyARunCanBeReopened(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "no")} {
		if _, err := Reopen(dir, nil); err == nil {
			t.Errorf("%s was reopened", dir)
		}
	}
	r, err := Create(t.TempDir(), day)
	must(t, err)
	die(t, r)
	if _, err := Reopen(r.Dir, nil); !errors.Is(err, ErrNotBegun) {
		t.Errorf("a run without a record: %v", err)
	}
}

// gone is a process that has ended: ours, had it started at another time.
func gone() process.Identity {
	id := process.Self()
	id.StartTime++
	return id
}

func TestALockIsWaitedForOnlyWhenItsOwnerHasEnded(t *testing.T) {
	w := cutOff(t)
	held := func(by process.Identity) *os.File {
		f, err := os.OpenFile(filepath.Join(w.dir, RunLockFile), os.O_RDWR|os.O_APPEND, 0)
		must(t, err)
		if ok, err := lockFile(f); err != nil || !ok {
			t.Fatalf("held already: %v", err)
		}
		must(t, writeOwner(f, by))
		return f
	}
	f := held(process.Self())
	var owned *OwnedError
	if _, err := Reopen(w.dir, nil); !errors.As(err, &owned) || owned.Holder != process.Self() || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) {
		t.Errorf("of a live owner: %v", err)
	}
	must(t, f.Close())
	f = held(gone())
	if is, err := Owned(w.dir); err != nil || is {
		t.Errorf("of a dead owner: %v, %v", is, err)
	}
	freed := make(chan error, 1)
	time.AfterFunc(20*time.Millisecond, func() { freed <- f.Close() }) // as a child that becomes another program
	r, err := Reopen(w.dir, nil)
	must(t, errors.Join(err, <-freed))
	if id, ok, err := Holder(w.dir); err != nil || !ok || id != process.Self() {
		t.Errorf("holder %+v %v, %v", id, ok, err)
	}
	must(t, r.Close())
	if _, ok, err := Holder(w.dir); err != nil || ok {
		t.Errorf("given up, but held: %v", err)
	}
}

func TestARunOfAnotherMachineMayBeOwned(t *testing.T) {
	w := cutOff(t)
	far := process.Self()
	far.Boot, far.Host = "another", "elsewhere"
	f, err := os.OpenFile(filepath.Join(w.dir, RunLockFile), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	must(t, errors.Join(writeOwner(f, far), f.Close()))
	if owned, err := Owned(w.dir); err != nil || !owned {
		t.Errorf("owned %v, %v", owned, err)
	}
}

const reopenEnv = "LEDGER_TEST_REOPEN"

// TestReopenProcess is not a test by itself: TestTwoEnginesCannotCarryOnOneRun runs it
// twice.
func TestReopenProcess(t *testing.T) {
	dir := os.Getenv(reopenEnv)
	if dir == "" {
		return
	}
	r, err := Reopen(dir, nil)
	var owned *OwnedError
	switch {
	case errors.As(err, &owned):
		fmt.Println("refused", owned.Holder.PID)
		return
	case err != nil:
		t.Fatal(err)
	}
	fmt.Println("owner", os.Getpid())
	_, err = io.Copy(io.Discard, os.Stdin) // until both have spoken
	must(t, errors.Join(err, r.Append(Resumed(false)), r.Close()))
}

func TestTwoEnginesCannotCarryOnOneRun(t *testing.T) {
	w := cutOff(t)
	f, err := os.OpenFile(filepath.Join(w.dir, RunLockFile), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	must(t, errors.Join(writeOwner(f, gone()), f.Close()))
	says := make(chan string, 2)
	var end []func()
	for range 2 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestReopenProcess$")
		cmd.Env = append(os.Environ(), reopenEnv+"="+w.dir)
		in, err := cmd.StdinPipe()
		must(t, err)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewReader(out)
		go func() {
			line, err := lines.ReadString('\n')
			says <- strings.TrimSpace(line) + errText(err)
		}()
		end = append(end, func() {
			must(t, in.Close())
			if _, err := io.Copy(io.Discard, lines); err != nil {
				t.Error(err)
			}
			must(t, cmd.Wait())
		})
	}
	a, b := <-says, <-says
	if strings.HasPrefix(a, "refused") {
		a, b = b, a
	}
	if pid, ok := strings.CutPrefix(a, "owner "); !ok || b != "refused "+pid {
		t.Errorf("one says %q, the other %q", a, b)
	}
	for _, f := range end {
		f()
	}
	if s, err := Replay(w.dir); err != nil || s.Resumes != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestAnOldJournalIsRead: of a run that an older program wrote, without the fields and
// the lock's content of today.
func TestAnOldJournalIsRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "orchestrate-old")
	must(t, os.MkdirAll(dir+"/a", 0o700))
	for name, text := range map[string]string{
		JournalFile: `{"schemaVersion":1,"seq":1,"at":"2026-07-30T12:00:05Z","kind":"run_started","run":{"runId":"old","specPath":"s","specDigest":"d","base":"","jobs":["a"]}}
{"schemaVersion":1,"seq":2,"at":"2026-07-30T12:00:05Z","kind":"intent","job":"a","attempt":1,"route":{"runtime":"exec"}}
{"schemaVersion":1,"seq":3,"at":"2026-07-30T12:00:05Z","kind":"note","text":"x"}
`,
		StateFile:        `{"schemaVersion":1,"seq":2,"runId":"old","phase":"running","jobs":[{"id":"a","status":"queued","attempt":1}]}`,
		RunLockFile:      "",
		"a/attempt.lock": "",
	} {
		must(t, os.WriteFile(dir+"/"+name, []byte(text), 0o600))
	}
	if owned, err := Owned(dir); err != nil || owned {
		t.Errorf("owned %v, %v", owned, err)
	}
	r, err := Reopen(dir, nil)
	must(t, err)
	if l, err := r.AttemptLock("a"); err != nil || l != (AttemptLock{}) {
		t.Errorf("lock %+v, %v", l, err)
	}
	must(t, r.Append(Resumed(false), AttemptEnded(JobStatus{ID: "a", Attempts: 1, Status: Interrupted}), Intent("a", 2, Route{Runtime: "exec"})))
	_, lock, err := r.BeginAttempt("a", 2)
	must(t, err)
	must(t, errors.Join(lock.Close(), r.Close()))
	if _, err := os.Stat(dir + "/a/attempt-1/attempt.lock"); err != nil {
		t.Error(err)
	}
}

// TestARunThatCannotBeWrittenIsLeftAlone has folders where files go, which no right
// gets around.
func TestARunThatCannotBeWrittenIsLeftAlone(t *testing.T) {
	for _, name := range []string{RunLockFile, JournalFile} {
		w := cutOff(t)
		w.remove(t, name)
		must(t, os.Mkdir(filepath.Join(w.dir, name), 0o700))
		if _, err := Reopen(w.dir, nil); err == nil || !strings.Contains(err.Error(), "cannot be written") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What came after the run is not the journal's to know: an integration beside it loses
// nothing, and its own files are kept.
func TestAnIntegrationIsNoLoss(t *testing.T) {
	w := cutOff(t)
	w.write(t, JobPath(IntegrationJob, AttemptLockFile), `{"attempt":3}`+"\n")
	w.write(t, JobPath(IntegrationJob, AttemptDir(2), IntegrationFile), "{}")
	w.write(t, JobPath(IntegrationJob, IntentFile), "{}")
	r, err := Reopen(w.dir, nil)
	must(t, err)
	defer func() { must(t, r.Close()) }()
	l, err := r.AttemptLock(IntegrationJob)
	must(t, err)
	if _, err := r.ReadFile(JobPath(IntegrationJob, IntentFile)); err != nil || l.Attempt != 3 {
		t.Errorf("%v, attempt %d", err, l.Attempt)
	}
	_, lock, err := r.BeginAttempt(IntegrationJob, 4)
	must(t, err)
	must(t, lock.Close())
	if _, err := r.ReadFile(JobPath(IntegrationJob, AttemptDir(3), IntentFile)); err != nil {
		t.Error(err)
	}
}
