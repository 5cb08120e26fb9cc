package ledger

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/process"
)

// crashedBeginning is a run whose engine died after it had intended attempt 2 of job a
// and before, or while, it made room for it.
func crashedBeginning(t *testing.T) (w *whole, restore func()) {
	t.Helper()
	w, r := begin(t, "a")
	w.attempt(t, r, "a", 1)
	must(t, r.WriteFile("a/artifacts/x/report.md", []byte("one")))
	w.end(t, r, AttemptEnded(JobStatus{SchemaVersion: 1, ID: "a", Attempts: 1, Status: Failed}))
	w.add(t, r, Intent("a", 2, Route{Runtime: "exec"}))
	w.stop(t, r)
	return w, keep(t, w.dir)
}

// TestAnAttemptBeginsWhereverTheOneBeforeWasCutOff simulates the death of an engine at
// each step of BeginAttempt by what is on the disk then. The attempt that was cut off
// ends interrupted, the next begins, and nothing of either is lost or mixed.
func TestAnAttemptBeginsWhereverTheOneBeforeWasCutOff(t *testing.T) {
	w, restore := crashedBeginning(t)
	move := func(names ...string) func() {
		return func() {
			must(t, os.MkdirAll(w.dir+"/a/attempt-1", 0o700))
			for _, name := range names {
				must(t, os.Rename(w.dir+"/a/"+name, w.dir+"/a/attempt-1/"+name))
			}
		}
	}
	all := []string{StatusFile, ArtifactsDir, ExitFile, AttemptLockFile}
	for name, crash := range map[string]func(){
		"nothing was moved":         func() {},
		"its folder is made":        move(),
		"one file is moved":         move(all[:1]...),
		"another one first":         move(ArtifactsDir),
		"all but the lock":          move(all[:3]...),
		"the lock too":              move(all...),
		"a temporary lock is there": func() { move(all...)(); w.write(t, "a/.attempt.lock.1.tmp", "") },
		"the new lock is in place":  func() { move(all...)(); w.write(t, "a/attempt.lock", `{"attempt":2}`+"\n") },
		"and files of the new one": func() {
			move(all...)()
			w.write(t, "a/attempt.lock", `{"attempt":2}`+"\n")
			w.write(t, "a/prompt.md", "two")
		},
		"a line of its lock is torn": func() { move(all...)(); w.write(t, "a/attempt.lock", `{"attempt":2}`+"\n"+`{"furn`) },
	} {
		crash()
		r, err := Reopen(w.dir, nil)
		must(t, err)
		s := JobStatus{SchemaVersion: 1, ID: "a", Attempts: 2, Status: Interrupted}
		must(t, r.Append(Resumed(false), AttemptEnded(s)))
		must(t, r.WriteJSON("a/status.json", s))
		must(t, r.Append(Intent("a", 3, Route{Runtime: "exec"})))
		_, lock, err := r.BeginAttempt("a", 3)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			must(t, r.Close())
			restore()
			continue
		}
		must(t, lock.Close())
		for file, want := range map[string]string{"attempt-1/artifacts/x/report.md": "one", "attempt-1/exit.json": `"attempt": 1`, "attempt-1/attempt.lock": `"attempt":1`, "attempt.lock": `"attempt":3`} {
			if got, err := os.ReadFile(w.dir + "/a/" + file); err != nil || !strings.Contains(string(got), want) {
				t.Errorf("%s: %s is %q, %v", name, file, got, err)
			}
		}
		attempts, err := r.Attempts("a")
		if err != nil || len(attempts) != 2 || attempts[0].Status != Failed || attempts[1].Status != Interrupted || attempts[1].Attempts != 2 {
			t.Errorf("%s: attempts %+v, %v", name, attempts, err)
		}
		if names, err := r.list("a"); err != nil || len(names) != 3 {
			t.Errorf("%s: in the job's directory: %q, %v", name, names, err)
		}
		must(t, r.Close())
		restore()
	}
}

func TestAnAttemptBeginsWithoutADirectoryOfTheOneBefore(t *testing.T) {
	r := newRun(t, "a")
	must(t, r.Append(Intent("a", 1, Route{Runtime: "exec"})))
	_, lock, err := r.BeginAttempt("a", 2)
	must(t, err)
	must(t, lock.Close())
	if names, err := r.list("a"); err != nil || !slices.Equal(names, []string{AttemptLockFile}) {
		t.Errorf("%q, %v", names, err)
	}
}

func TestAJobThatWasNeverDispatchedBeginsLater(t *testing.T) {
	r := newRun(t, "a")
	must(t, r.WriteJSON("a/status.json", JobStatus{ID: "a", Status: Blocked}))
	_, lock, err := r.BeginAttempt("a", 1)
	must(t, err)
	must(t, lock.Close())
	if got, err := r.ReadFile("a/attempt-0/status.json"); err != nil || !strings.Contains(string(got), "blocked") {
		t.Errorf("what it was before: %q, %v", got, err)
	}
	if all, err := r.Attempts("a"); err != nil || len(all) != 0 {
		t.Errorf("attempts %+v, %v", all, err)
	}
}

func TestALinkIsNoJobDirectory(t *testing.T) {
	r := newRun(t, "a")
	must(t, os.Symlink(t.TempDir(), r.Path("a")))
	if _, _, err := r.BeginAttempt("a", 1); !errors.Is(err, ErrNotFolder) {
		t.Errorf("%v", err)
	}
}

func TestALockSaysWhoHasTheTree(t *testing.T) {
	r := newRun(t, "a")
	r.patience = 0
	read := func() AttemptLock {
		l, err := r.AttemptLock("a")
		must(t, err)
		return l
	}
	if _, err := r.AttemptLock("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no attempt: %v", err)
	}
	if _, err := r.Retake("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no attempt: %v", err)
	}
	_, lock, err := r.BeginAttempt("a", 1)
	must(t, err)
	f := Furnished{Dir: "/w", Isolated: true, Begun: day, Inputs: "ab"}
	must(t, r.Furnish("a", lock, f))
	if l := read(); l.Attempt != 1 || l.Unended() || !cmp.Equal(l.Furnished, &f) {
		t.Errorf("furnished: %+v", l)
	}
	self := process.Self()
	one, two := self, self
	one.PID, two.PID = 101, 102
	add := func(line lockLine) { must(t, r.addLine(lock, line)) } // as supervisors do
	add(lockLine{Supervisor: &one, Cgroup: "/sys/fs/cgroup/x"})
	add(lockLine{Program: &two})
	if l := read(); !l.Unended() || l.Supervisor.PID != 101 || l.Program.PID != 102 || l.Cgroup != "/sys/fs/cgroup/x" {
		t.Errorf("running: %+v", l)
	}
	add(lockLine{Over: true})
	if l := read(); l.Unended() || !l.Over {
		t.Errorf("over: %+v", l)
	}
	add(lockLine{Supervisor: &two}) // of a check
	if l := read(); !l.Unended() || l.Over || l.Program != nil || l.Cgroup != "" || l.Furnished == nil {
		t.Errorf("a check: %+v", l)
	}
	if _, err := r.Retake("a"); !errors.Is(err, ErrHeld) {
		t.Errorf("beside its holder: %v", err)
	}
	_, err = lock.WriteString(`{"over":tr`)
	must(t, err)
	must(t, lock.Close())
	if l := read(); l.Over {
		t.Errorf("a torn line counts: %+v", l)
	}
	lock, err = r.Retake("a")
	must(t, err)
	add(lockLine{Over: true})
	if l := read(); l.Unended() {
		t.Errorf("after a torn line: %+v", l)
	}
	_, err = lock.WriteString("damage\n")
	must(t, errors.Join(err, lock.Close()))
	if _, err := r.AttemptLock("a"); err == nil || !strings.Contains(err.Error(), "attempt.lock line 8") {
		t.Errorf("a damaged lock: %v", err)
	}
}

// TestALiveSupervisorIsNotWaitedFor: an older attempt whose recorded supervisor lives is
// held at once; one whose supervisor has ended is waited for.
func TestALiveSupervisorIsNotWaitedFor(t *testing.T) {
	r := newRun(t, "a")
	_, lock, err := r.BeginAttempt("a", 1)
	must(t, err)
	self, dead := process.Self(), gone()
	must(t, r.addLine(lock, lockLine{Supervisor: &self}))
	if _, _, err := r.BeginAttempt("a", 2); !errors.Is(err, ErrHeld) {
		t.Errorf("%v", err)
	}
	must(t, r.addLine(lock, lockLine{Supervisor: &dead}))
	freed := make(chan error, 1)
	go func() { freed <- lock.Close() }()
	_, lock2, err := r.BeginAttempt("a", 2)
	must(t, errors.Join(err, <-freed))
	must(t, lock2.Close())
}
