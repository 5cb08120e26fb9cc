package cli

import (
	"strings"
	"testing"
	"time"

	"orchestrate/internal/ledger"
)

// A picture is drawn when something has changed, and not more often than one can
// look.
func TestPicture(t *testing.T) {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	run, err := ledger.Create(t.TempDir(), clock)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if err := run.Append(ledger.RunStarted(ledger.RunInfo{RunID: run.ID, Jobs: []string{"first"}})); err != nil {
		t.Fatal(err)
	}
	f, err := follow(System{Cwd: run.Dir}, run.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	var out strings.Builder
	p := picture{run: f, out: &out, now: func() time.Time { return clock }}
	drawn := func() int { return strings.Count(out.String(), "\x1b[H\x1b[2Jrun "+run.ID+": running\n") }
	for _, step := range []struct {
		kind  ledger.RecordKind
		later time.Duration
		want  int
	}{
		{ledger.KindEvent, redrawn, 0}, // changes nothing that is shown
		{ledger.KindRunStarted, 0, 1},
		{"", redrawn, 1},
		{ledger.KindIntent, 0, 2},
		{ledger.KindStarted, redrawn / 2, 2},
		{"", redrawn / 2, 3},
	} {
		clock = clock.Add(step.later)
		if step.kind != "" {
			p.record(ledger.Record{Kind: step.kind})
		}
		if p.refresh(); drawn() != step.want || p.err != nil {
			t.Fatalf("%+v: %d pictures (%v)\n%s", step, drawn(), p.err, out.String())
		}
	}
	if !strings.Contains(out.String(), "first  queued") {
		t.Errorf("the job is not in the picture:\n%s", out.String())
	}
}
