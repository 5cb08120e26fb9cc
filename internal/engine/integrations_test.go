package engine

import (
	"testing"
	"time"

	"orchestrate/internal/integrate"
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
	for n, in := range []integrate.Integration{
		{Outcome: integrate.Integrated, Jobs: []integrate.Work{{Job: "one", Done: "c0ffee"}, {Job: "two"}}},
		{Outcome: integrate.Refused, Jobs: []integrate.Work{{Job: "one"}, {Job: "two", Done: "c0ffee"}}},
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
