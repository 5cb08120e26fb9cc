package ledger

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// heirs are two who would go on with the same session.
var heirs = [...]Heir{{Dir: "/w/plans/reports/orchestrate-20261130-120000", Job: "b", Attempt: 1}, {Dir: "/w/plans/reports/orchestrate-20261130-120001", Job: "c", Attempt: 2}}

func TestASessionIsGoneOnWithByOne(t *testing.T) {
	r := newRun(t, "a")
	_, lock, err := r.BeginAttempt("a", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := HoldSession(r.Dir, "a", 1, heirs[0]); !errors.Is(err, ErrHeld) {
		t.Errorf("the attempt itself is at work: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	first, found, err := HoldSession(r.Dir, "a", 1, heirs[0])
	if err != nil || found.Heir != nil {
		t.Fatalf("%+v, %v", found.Heir, err)
	}
	_, _, err = HoldSession(r.Dir, "a", 1, heirs[1])
	if !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), "job b of run 20261130-120000 (attempt 1) goes on with it") {
		t.Errorf("the second one: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, found, err := HoldSession(r.Dir, "a", 1, heirs[1])
	if err != nil || found.Heir == nil || *found.Heir != heirs[0] {
		t.Fatalf("%+v, %v", found.Heir, err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}

// The lock of an attempt is where its files are, also when a later one has begun.
func TestTheSessionOfAnOlderAttemptIsHeldWhereItIs(t *testing.T) {
	r := newRun(t, "a")
	for n := 1; n <= 2; n++ {
		_, lock, err := r.BeginAttempt("a", n)
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; n <= 2; n++ {
		lock, _, err := HoldSession(r.Dir, "a", n, heirs[0])
		if err != nil {
			t.Fatalf("attempt %d: %v", n, err)
		}
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := HoldSession(r.Dir, "a", 3, heirs[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an attempt that was none: %v", err)
	}
	if l, err := r.AttemptLock("a"); err != nil || l.Attempt != 2 || l.Heir == nil || *l.Heir != heirs[0] {
		t.Errorf("%+v, %v", l, err)
	}
}

// What was held and never begun leaves the lock as it was: it names who went on before, or
// nobody.
func TestASessionThatIsReturnedNamesWhoWentOnBefore(t *testing.T) {
	r := newRun(t, "a")
	_, lock, err := r.BeginAttempt("a", 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	hold := func(by Heir) AttemptLock {
		t.Helper()
		lock, found, err := HoldSession(r.Dir, "a", 1, by)
		if err != nil {
			t.Fatal(err)
		}
		if err := ReturnSession(lock, found.Heir); err != nil {
			t.Fatal(err)
		}
		return found
	}
	hold(heirs[0])
	if found := hold(heirs[1]); found.Heir != nil && *found.Heir != (Heir{}) {
		t.Errorf("after one that never began: %+v", *found.Heir)
	}
	begun, _, err := HoldSession(r.Dir, "a", 1, heirs[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := begun.Close(); err != nil {
		t.Fatal(err)
	}
	hold(heirs[1])
	if found := hold(heirs[1]); found.Heir == nil || *found.Heir != heirs[0] {
		t.Errorf("after one that went on, and one that never began: %+v", found.Heir)
	}
}
