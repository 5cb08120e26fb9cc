package report

import (
	"strings"
	"testing"
	"time"

	"orchestrate/internal/ledger"
)

// The report of a run that has not ended says so first, and gives it no verdict.
func TestInterimReport(t *testing.T) {
	begun := time.Date(2026, 7, 30, 12, 0, 5, 0, time.UTC)
	status := 1
	in := Input{
		RunDir: "plans/reports/orchestrate-x", SpecPath: "jobs.yaml", Now: begun.Add(90 * time.Second),
		State: ledger.State{RunID: "x", StartedAt: begun, EndedAt: &begun, Verdict: "fail", ExitStatus: &status, Jobs: []ledger.JobState{
			{ID: "a", Status: ledger.Running, Attempt: 1, Runtime: "claude"},
			{ID: "b", Status: ledger.Failed, Reason: "timeout"},
			{ID: "c", Status: ledger.Queued},
		}},
	}
	for standing, want := range map[string]string{
		Running:  "**Not ended: still running.**",
		Stopping: "**Not ended: being stopped.**",
		CutOff:   "**Not ended: cut off.**",
	} {
		in.Standing = standing
		in.State.EndedAt = nil
		r := Build(in)
		text := string(r.Markdown())
		for _, part := range []string{"# Orchestrate report: not ended\n\n" + want, "**Result: not ended.**", "1m30s ago", "## Verdict: not ended", "yet", "- Arbiter: not ended", "- Checks: none run yet"} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q in\n%s", standing, part, text)
			}
		}
		if r.Verdict != "" || r.ExitStatus != nil || r.EndedAt != nil || r.Standing != standing {
			t.Errorf("%s: %+v", standing, r)
		}
		needs := strings.Join(r.NeedsPerson, "\n")
		if strings.Contains(needs, "job a") || strings.Contains(needs, "job c") || !strings.Contains(needs, "job b is failed") || strings.Contains(needs, "verdict") {
			t.Errorf("%s: needs %s", standing, needs)
		}
		if strings.Contains(needs, "orchestrate resume x") != (standing == CutOff) {
			t.Errorf("%s: needs %s", standing, needs)
		}
	}
}
