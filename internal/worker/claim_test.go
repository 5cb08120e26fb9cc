package worker

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/process"
	"orchestrate/internal/runtime"
)

// single is the manifest of a task with an id.
func single(t *testing.T, r Run, id string) *Manifest {
	t.Helper()
	m, diags := Single(r, id, "x", options(r))
	if m == nil {
		t.Fatal(said(diags))
	}
	return m
}

// prepared is the call of a manifest, ready to begin.
func prepared(t *testing.T, m *Manifest) Prepared {
	t.Helper()
	p, diags, err := m.Write()
	must(t, err)
	if len(diags) > 0 {
		t.Fatal(said(diags))
	}
	return p
}

// isBusy holds that an error is about a task that a call has.
func isBusy(t *testing.T, err error, call string, words string, tasks ...string) {
	t.Helper()
	var busy *BusyError
	if !errors.As(err, &busy) || busy.Call != call || !slices.Equal(busy.Tasks, tasks) || !strings.Contains(err.Error(), words) {
		t.Errorf("it is not refused for %v of call %s (%s): %v", tasks, call, words, err)
	}
}

func TestATaskThatACallIsAtWorkWithIsNotGivenOutAgain(t *testing.T) {
	r := newRun(t)
	c := begin(t, r, "a")
	c.starts("a", 1)
	m := single(t, r, "a")
	_, _, err := m.Write()
	isBusy(t, err, c.led.ID, "orchestrate wait "+c.led.ID, "a")
	c.ends(done("a"), "x")
	c.over()
	prepared(t, single(t, r, "a"))
}

func TestOfCallsThatWereMadeReadyAtOnceOneBegins(t *testing.T) {
	r := newRun(t)
	first, second, other := prepared(t, single(t, r, "a")), prepared(t, single(t, r, "a")), prepared(t, single(t, r, "b"))
	release, err := r.Claim(t.Context(), first.Spec, []string{"a"})
	must(t, err)
	soon, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Claim(soon, other.Spec, []string{"b"}); !errors.Is(err, context.Canceled) {
		t.Errorf("another begins while one does: %v", err)
	}
	c := begin(t, r, "a")
	must(t, release())
	_, err = r.Claim(t.Context(), second.Spec, []string{"a"})
	isBusy(t, err, c.led.ID, "is at work with task a", "a")
	if _, err := os.Stat(second.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of the call that was refused is left: %v", err)
	}
	release, err = r.Claim(t.Context(), other.Spec, []string{"b"})
	must(t, err)
	must(t, release())
}

func TestATaskThatWasDoneSinceIsNotDoneAgain(t *testing.T) {
	r := newRun(t)
	p := prepared(t, single(t, r, "a"))
	c := begin(t, r, "a")
	c.starts("a", 1)
	c.ends(done("a"), "x")
	c.over()
	_, err := r.Claim(t.Context(), p.Spec, []string{"a"})
	isBusy(t, err, c.led.ID, "has begun with task a since", "a")

	// The same for what was found to be left of a manifest before that.
	m, diags := ParseManifest(r, "m.json", []byte(`{"tasks": [{"id": "b", "prompt": "x"}, {"id": "c", "prompt": "x"}]}`), options(r))
	if m == nil {
		t.Fatal(said(diags))
	}
	left, _, err := m.Unfinished()
	must(t, err)
	c = begin(t, r, "c")
	c.starts("c", 1)
	c.ends(done("c"), "x")
	c.over()
	p = prepared(t, left.Manifest)
	_, err = r.Claim(t.Context(), p.Spec, []string{"b", "c"})
	isBusy(t, err, c.led.ID, "since", "c")

	// Once that is known, it is done anew.
	p = prepared(t, single(t, r, "a"))
	release, err := r.Claim(t.Context(), p.Spec, []string{"a"})
	must(t, err)
	must(t, release())
}

func TestACallGoesOnOnlyWithWhatNobodyElseHas(t *testing.T) {
	r := newRun(t)
	old := begin(t, r, "good", "bad", "never")
	old.starts("good", 1)
	old.ends(done("good"), "x")
	old.starts("bad", 1)
	old.ends(failed("bad", runtime.ReasonCrash), "")
	must(t, old.led.Close())
	claim := func(retry bool) error {
		t.Helper()
		release, err := r.ClaimAgain(t.Context(), old.led.Dir, retry)
		if err == nil {
			must(t, release())
		}
		return err
	}
	newer := begin(t, r, "good", "bad")
	newer.starts("bad", 1)
	if err := claim(false); err != nil {
		t.Errorf("what is left is nobody else's: %v", err)
	}
	isBusy(t, claim(true), newer.led.ID, "orchestrate wait "+newer.led.ID, "bad")
	newer.ends(failed("bad", runtime.ReasonCrash), "")
	if err := claim(true); err != nil {
		t.Errorf("it has failed there, too: %v", err)
	}
	newer.over()
}

func TestAWorkerThatOutlivesItsEngineStillHasItsTask(t *testing.T) {
	r := newRun(t)
	c := begin(t, r, "a", "b")
	c.starts("a", 1)
	path := filepath.Join(c.led.Dir, "a", ledger.AttemptLockFile)
	tell := func(line any) {
		t.Helper()
		data, err := json.Marshal(line)
		must(t, err)
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		_, err = f.Write(append(data, '\n'))
		must(t, errors.Join(err, f.Close()))
	}
	tell(map[string]any{"supervisor": process.Self()})
	must(t, c.led.Close()) // the engine is gone

	_, _, err := single(t, r, "a").Write()
	isBusy(t, err, c.led.ID, "orchestrate resume "+c.led.ID, "a")
	prepared(t, single(t, r, "b")) // that had not begun
	o, tasks, _, err := r.Look()
	must(t, err)
	if s := tasks[0].Status; s.State != ledger.Running || s.ExitCode != nil || s.Evidence == nil ||
		!strings.Contains(s.Evidence.Line(0), "its worker still runs") || s.Next == nil || !strings.Contains(*s.Next, "orchestrate resume "+c.led.ID) || o.Counts.Running != 1 {
		t.Errorf("it is %+v", s)
	}

	tell(map[string]any{"over": true})
	prepared(t, single(t, r, "a"))
	if _, tasks, _, err = r.Look(); err != nil || tasks[0].Status.State != ledger.Interrupted {
		t.Errorf("once the worker has ended: %+v, %v", tasks[0].Status, err)
	}
}
