package integrate

import (
	"strings"
	"testing"
	"time"

	"orchestrate/internal/ledger"
)

// What an integration brought stays brought, whatever a later one about another target
// came to; a refused one brought nothing.
func TestBroughtIsWhatAnyIntegrationBrought(t *testing.T) {
	run, err := ledger.Create(t.TempDir(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	})
	for n, in := range []Integration{
		{Outcome: Integrated, Jobs: []Work{{Job: "one", Done: "c0ffee"}, {Job: "two"}}},
		{Outcome: Refused, Jobs: []Work{{Job: "one"}, {Job: "two", Done: "c0ffee"}}},
	} {
		_, lock, err := run.BeginAttempt(ledger.IntegrationJob, n+1)
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
		if err := run.WriteJSON(ledger.JobPath(ledger.IntegrationJob, ledger.IntegrationFile), in); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Brought(run)
	if err != nil || !got["one"] || got["two"] {
		t.Errorf("%v, %v", got, err)
	}
}

// Whatever was moved, who reads it is told by which run, and what finishes it.
func TestCutOffSaysWhatFinishesIt(t *testing.T) {
	for want, target := range map[string]Target{
		"while it moved branch main": {Branch: "main"}, "while it made branch new": {Branch: "new", New: true}, "while it moved the checkout": {},
	} {
		got := CutOff(Integration{RunID: "r", Target: target})
		if !strings.Contains(got, "of run r was cut off "+want) || !strings.HasSuffix(got, "finish it with: orchestrate integrate r") {
			t.Error(got)
		}
	}
}
