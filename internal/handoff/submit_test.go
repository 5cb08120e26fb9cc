package handoff_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
)

// handIn is one caller's turn.
func handIn(t testing.TB, dir, job string, s handoff.Submission, result string) (handoff.Taken, error) {
	t.Helper()
	run, err := ledger.Open(dir)
	must(t, err)
	defer func() { must(t, run.Close()) }()
	for _, j := range run.State().Jobs {
		if j.ID == job {
			return handoff.Accept(run, j, s, []byte(result))
		}
	}
	t.Fatalf("no job %s", job)
	return handoff.Taken{}, nil
}

func answer(attempt string) handoff.Submission {
	return handoff.Submission{SchemaVersion: 1, Attempt: attempt, At: day}
}

func failed(attempt, reason string) handoff.Submission {
	return handoff.Submission{SchemaVersion: 1, Attempt: attempt, Failed: true, Reason: reason, At: day}
}

// refusedAs reports whether that is why something was not taken.
func refusedAs(t *testing.T, err error, why handoff.Refusal, words string) {
	t.Helper()
	var r *handoff.RefusedError
	if !errors.As(err, &r) || r.Why != why || !strings.Contains(r.Text, words) {
		t.Errorf("error %v, want one for %s that says %q", err, why, words)
	}
}

func TestAResultIsKeptOnce(t *testing.T) {
	q := request("a", 1, "observe")
	_, dir := parkedRun(t, q)
	taken, err := handIn(t, dir, "a", answer(q.Attempt), "found it\n")
	if err != nil || taken.Repeated || taken.EndStated {
		t.Fatal(taken, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "a", "result.md")); err != nil || string(data) != "found it\n" {
		t.Errorf("result %q, %v", data, err)
	}
	if a := look(t, dir)["a"]; a.Submission == nil || !a.Back() || a.Free() || len(a.Submission.ResultSHA256) != 64 {
		t.Errorf("submission %+v", a.Submission)
	}
	if taken, err = handIn(t, dir, "a", answer(q.Attempt), "found it\n"); err != nil || !taken.Repeated {
		t.Errorf("the same once more: %v, %v", taken, err)
	}
	_, err = handIn(t, dir, "a", answer(q.Attempt), "something else\n")
	refusedAs(t, err, handoff.Double, "that one counts")
	_, err = handIn(t, dir, "a", failed(q.Attempt, "no"), "")
	refusedAs(t, err, handoff.Double, "that one counts")
	if data, _ := os.ReadFile(filepath.Join(dir, "a", "result.md")); string(data) != "found it\n" {
		t.Errorf("what was refused has changed the result to %q", data)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "a"))
	must(t, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".part") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func TestWhatIsStaleIsRefused(t *testing.T) {
	q := request("a", 1, "observe")
	r, dir := parkedRun(t, q)
	_, err := handIn(t, dir, "a", answer("a.a1.ffffffff"), "x")
	refusedAs(t, err, handoff.Stale, "not the newest")
	take(t, dir, "one", time.Minute, day)
	take(t, dir, "two", 0, day.Add(time.Hour)) // marks it
	_, err = handIn(t, dir, "a", answer(q.Attempt), "x")
	refusedAs(t, err, handoff.Stale, "its lease ended")

	must(t, r.Append(ledger.AttemptEnded(ledger.JobStatus{SchemaVersion: 1, ID: "a", Attempts: 1, Status: ledger.Interrupted})))
	next := request("a", 2, "observe")
	out(t, r, next)
	_, err = handIn(t, dir, "a", answer(q.Attempt), "x")
	refusedAs(t, err, handoff.Stale, "not the newest")
	if _, err := handIn(t, dir, "a", answer(next.Attempt), "x"); err != nil {
		t.Error(err)
	}
}

// Whoever did not hear that a result was taken hands it in again, perhaps after another
// attempt has begun.
func TestTheSameIsTakenAgainWhenAnotherAttemptHasFollowed(t *testing.T) {
	q := request("a", 1, "observe")
	r, dir := parkedRun(t, q)
	_, err := handIn(t, dir, "a", answer(q.Attempt), "x")
	must(t, err)
	must(t, r.Append(ledger.AttemptEnded(ledger.JobStatus{SchemaVersion: 1, ID: "a", Attempts: 1, Status: ledger.Failed})))
	out(t, r, request("a", 2, "observe"))
	if taken, err := handIn(t, dir, "a", answer(q.Attempt), "x"); err != nil || !taken.Repeated {
		t.Errorf("%v, %v", taken, err)
	}
	_, err = handIn(t, dir, "a", answer(q.Attempt), "y")
	refusedAs(t, err, handoff.Double, "that one counts")
}

// After a writer was cut off only the word that it has ended is wanted of it.
func TestTheEndOfAWriterThatWasCutOff(t *testing.T) {
	for _, c := range []struct {
		name, effect string
		gone         bool
		s            handoff.Submission
		taken        bool
	}{
		{"its end", "scoped-write", false, failed("a.a1.0123abcd", "it has ended"), true},
		{"a result", "scoped-write", false, answer("a.a1.0123abcd"), false},
		{"of one that had ended", "scoped-write", true, failed("a.a1.0123abcd", "it has ended"), false},
		{"of an observer", "observe", false, failed("a.a1.0123abcd", "it has ended"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, dir := parkedRun(t, request("a", 1, c.effect))
			status := ledger.JobStatus{
				SchemaVersion: 1, ID: "a", Attempts: 1, Status: ledger.Interrupted, Reason: "cancelled",
				Proof: &ledger.Proof{Level: "stated", Gone: c.gone},
			}
			must(t, r.Append(ledger.Settle(status)))
			must(t, r.WriteJSON("a/status.json", status))
			taken, err := handIn(t, dir, "a", c.s, "x")
			if taken.EndStated != c.taken {
				t.Errorf("taken: %+v", taken)
			}
			if c.taken {
				must(t, err)
				if taken, err = handIn(t, dir, "a", c.s, "x"); err != nil || !taken.Repeated || !taken.EndStated {
					t.Errorf("the same once more: %+v, %v", taken, err)
				}
				return
			}
			refusedAs(t, err, handoff.Closed, "interrupted (cancelled)")
			if wanted := !c.gone && c.effect != "observe"; strings.Contains(err.Error(), "--attempt a.a1.0123abcd --failed") != wanted {
				t.Errorf("it says the way on: %t, want %t: %v", !wanted, wanted, err)
			}
		})
	}
}

func TestNothingIsTakenOfAJobThatWasNeverTheSessions(t *testing.T) {
	r, err := ledger.Create(t.TempDir(), day)
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	must(t, r.Append(ledger.RunStarted(ledger.RunInfo{RunID: r.ID, Dir: r.Dir, Jobs: []string{"cli", "queued"}})))
	must(t, r.Append(ledger.Intent("cli", 1, ledger.Route{Runtime: "codex"})))
	_, err = handIn(t, r.Dir, "cli", answer("cli.a1.ffffffff"), "x")
	refusedAs(t, err, handoff.Closed, "it went to codex")
	_, err = handIn(t, r.Dir, "queued", answer("queued.a1.ffffffff"), "x")
	refusedAs(t, err, handoff.Closed, "nobody has begun it")
}

// Nothing is taken of a request that the engine has closed, whoever has it: it would be
// lost with an attempt that is ended without it.
func TestNothingIsTakenOfAClosedRequest(t *testing.T) {
	for name, leased := range map[string]bool{"somebody has it": true, "nobody has it": false} {
		t.Run(name, func(t *testing.T) {
			q := request("a", 1, "scoped-write")
			r, dir := parkedRun(t, q)
			var lease *handoff.Lease
			if leased {
				take(t, dir, "one", time.Minute, day)
				l, _, err := handoff.ReadLease(r, "a", q.Attempt)
				must(t, err)
				lease = &l
			}
			must(t, handoff.Close(r, q, lease, day.Add(time.Second)))
			_, err := handIn(t, dir, "a", answer(q.Attempt), "x")
			refusedAs(t, err, handoff.Stale, "nobody waits for it any more")
			l, there, err := handoff.ReadLease(r, "a", q.Attempt)
			must(t, err)
			if !there || !l.Lapsed || l.Given() != leased {
				t.Errorf("lease %+v, given = %t; want one that is over, given = %t", l, l.Given(), leased)
			}
		})
	}
}
