package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// whole is a run of twenty jobs as the engine writes it, with retries, jobs that were
// never dispatched, an arbiter, an end, and a second life after it. Its directory is as
// the dead engine left it.
type whole struct {
	dir     string
	journal []byte
	states  []State // after so many records
}

func wholeRun(t testing.TB) *whole {
	t.Helper()
	var ids []string
	for i := range 20 {
		ids = append(ids, fmt.Sprintf("j%02d", i+1))
	}
	w, r := begin(t, ids...)
	for i, id := range ids {
		switch i % 5 {
		case 0:
			w.end(t, r, Settle(JobStatus{SchemaVersion: 1, ID: id, Status: Blocked, Reason: runtime.BlockedDependency}))
		case 1:
			w.attempt(t, r, id, 1)
			w.end(t, r, AttemptEnded(JobStatus{SchemaVersion: 1, ID: id, Attempts: 1, Status: Failed, Reason: runtime.ReasonNetwork}))
			w.attempt(t, r, id, 2)
			w.end(t, r, settled(id, 2, Success, ""))
		default:
			w.attempt(t, r, id, 1)
			w.end(t, r, settled(id, 1, []Status{Success, Failed, Interrupted}[i%3], ""))
		}
	}
	w.judge(t, r, 1)
	w.add(t, r, Resumed(false))
	w.add(t, r, Told(AboutCheckout, "it changed"))
	w.add(t, r, Requeued(ids[0], "signed in since"))
	w.attempt(t, r, ids[0], 1)
	w.end(t, r, settled(ids[0], 1, Success, ""))
	w.add(t, r, Requeued(ArbiterJob, "what it reviewed has changed"))
	w.judge(t, r, 2)
	w.stop(t, r)
	return w
}

func begin(t testing.TB, jobs ...string) (*whole, *Run) {
	t.Helper()
	r, err := Create(t.TempDir(), day)
	must(t, err)
	w := &whole{dir: r.Dir, states: []State{{}}}
	w.add(t, r, RunStarted(RunInfo{RunID: r.ID, SpecPath: "jobs.yaml", Base: "cd", Jobs: jobs, Dir: r.Dir, Cwd: "/"}))
	return w, r
}

// stop kills the engine at an instant when the snapshot is exact.
func (w *whole) stop(t testing.TB, r *Run) {
	t.Helper()
	silence(r)
	must(t, r.writeSnapshot())
	drop(t, r)
	var err error
	w.journal, err = os.ReadFile(r.Path(JournalFile))
	must(t, err)
}

func (w *whole) add(t testing.TB, r *Run, rec Record) {
	t.Helper()
	must(t, r.Note(rec)) // what dies in these tests is a process, not the machine
	w.states = append(w.states, r.State())
}

func (w *whole) attempt(t testing.TB, r *Run, job string, n int) {
	t.Helper()
	w.add(t, r, Intent(job, n, Route{Runtime: "exec"}))
	_, lock, err := r.BeginAttempt(job, n)
	must(t, err)
	must(t, r.Furnish(job, lock, Furnished{Dir: "/w"}))
	must(t, lock.Close())
	must(t, r.WriteJSON(JobPath(job, ExitFile), map[string]any{"job": job, "attempt": n}))
	if n == 2 { // else the journal is too long to be read from every byte on
		w.add(t, r, Started(job, n, 7, 9))
		w.add(t, r, Imported(job, n, runtime.Event{Seq: 1, At: day, Kind: runtime.EventText, Text: untrusted.From("hi")}))
	}
}

func (w *whole) end(t testing.TB, r *Run, rec Record) {
	t.Helper()
	rec.Work = &Work{Inputs: "ab", Output: "cd"}
	w.add(t, r, rec)
	must(t, r.WriteJSON(JobPath(rec.Job, StatusFile), rec.Settled))
}

func (w *whole) judge(t testing.TB, r *Run, n int) {
	t.Helper()
	w.add(t, r, Arbitrating())
	w.attempt(t, r, ArbiterJob, n)
	w.end(t, r, settled(ArbiterJob, n, Success, ""))
	w.add(t, r, RunEnded("fail", 1))
}

// lines is the length of the first n lines.
func (w *whole) lines(n int) int {
	at := 0
	for range n {
		for w.journal[at] != '\n' {
			at++
		}
		at++
	}
	return at
}

// die ends an owner as a kill does: what it had handed to the system stays, nothing is
// given up in words.
func die(t testing.TB, r *Run) {
	t.Helper()
	silence(r)
	drop(t, r)
}

func silence(r *Run) {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.snap.stop()
}

func drop(t testing.TB, r *Run) {
	t.Helper()
	must(t, errors.Join(r.journal.flush(), r.journal.file.Close(), r.root.Close(), r.lock.Close()))
}

// keep remembers a folder and gives back what puts it there again.
func keep(t testing.TB, dir string) (restore func()) {
	t.Helper()
	saved := t.TempDir()
	must(t, os.CopyFS(saved, os.DirFS(dir)))
	return func() {
		must(t, os.RemoveAll(dir))
		must(t, os.CopyFS(dir, os.DirFS(saved)))
	}
}

// tree is every file of a folder with its content.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	}))
	return all
}
