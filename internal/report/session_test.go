package report

import (
	"strings"
	"testing"
	"time"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// parked is a run in which two jobs are with the hosting session, and one has come back
// from there.
func parked() Input {
	route := &ledger.Route{Runtime: handoff.Runtime, Agent: "Explore", Constrained: []string{"no sandbox: what it does is not held"}}
	away := func(id string) ledger.JobStatus {
		return ledger.JobStatus{ID: id, Status: ledger.Awaiting, Runtime: handoff.Runtime, Agent: "Explore", Attempts: 1, Route: route}
	}
	taken, until, handed := day.Add(time.Minute), day.Add(2*time.Minute), day.Add(90*time.Second)
	done := away("read")
	done.Status, done.TimedOut = ledger.Success, true
	return Input{
		RunDir: "plans/reports/orchestrate-r1", SpecPath: "jobs.yaml", Agents: true, Internal: true, Standing: Awaiting, Now: day.Add(time.Hour),
		State: ledger.State{RunID: "r1", Phase: ledger.PhaseAwaiting, StartedAt: day, ExitStatus: ptr(4), Jobs: []ledger.JobState{
			{ID: "read", Status: ledger.Success, Attempt: 1}, {ID: "scout", Status: ledger.Awaiting, Attempt: 1}, {ID: "fix", Status: ledger.Awaiting, Attempt: 1},
		}},
		Jobs: map[string]ledger.JobStatus{"read": done, "scout": away("scout"), "fix": away("fix")},
		Sessions: map[string]Session{
			"read":  {Attempt: "read.a1.1", By: "shell 4", TakenAt: &taken, Until: &until, HandedInAt: &handed, TimeoutMs: 1000},
			"scout": {Attempt: "scout.a1.1"},
			"fix":   {Attempt: "fix.a1.1", By: "shell 5", TakenAt: &taken, Until: &until, Writes: true},
		},
		Exists: func(rel string) bool { return strings.HasPrefix(rel, "read/") },
	}
}

func TestReportOfARunThatAwaitsTheSession(t *testing.T) {
	r := Build(parked())
	if r.Verdict != "" || r.ExitStatus != nil || r.Standing != Awaiting {
		t.Errorf("verdict %q, exit status %v, standing %q", r.Verdict, r.ExitStatus, r.Standing)
	}
	text := string(r.Markdown())
	for _, want := range []string{
		"**Not ended: it awaits the hosting session.**", "`orchestrate next r1 --wait 50s --json`",
		"1 of 3 jobs succeeded, 0 failed, 0 blocked, 0 interrupted, 2 not settled",
		"| `read` | success |", "| not reported |",
		"| `read` | `Explore` | handed in at 2026-07-30 12:01:35 UTC | 1s, handed in after it; it is for the account only | no sandbox: what it does is not held |",
		"| `scout` | `Explore` | nobody has it | none |",
		"| `fix` | `Explore` | shell 5 had it until 2026-07-30 12:02:05 UTC, and nothing shows that its writer has ended | none |",
		"orchestrate run jobs.yaml --internal --agents plans/reports/orchestrate-r1/agents.json\n",
		"# carried out by the hosting session: its request is plans/reports/orchestrate-r1/scout/request.json",
		"- Jobs: 1/3/0\n- Arbiter: not ended\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "cut off") || strings.Contains(text, "exit status 4") {
		t.Errorf("it says that the run was cut off, or ended:\n%s", text)
	}
	need := "job fix is with the hosting session: shell 5 had it until 2026-07-30 12:02:05 UTC, and nothing shows that its writer has ended; next: hand its result in late, or, once it has ended without one: orchestrate submit r1 fix --attempt fix.a1.1 --failed 'it has ended'"
	if len(r.NeedsPerson) != 1 || r.NeedsPerson[0] != need {
		t.Errorf("a person is needed for %q", r.NeedsPerson)
	}
}

func TestPageOfARunThatAwaitsTheSession(t *testing.T) {
	data, err := Build(parked()).HTML(noFiles{})
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, want := range []string{"Verdict: not ended", "Not ended: it awaits the hosting session.", `class="st s-awaiting"`, "shell 5 had it until", "Carried out by the hosting session: nobody has it; timeout none"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Count(page, `class="glyph s-awaiting"`) < 2 {
		t.Error("the graph does not show the jobs that are with the session")
	}
}

type noFiles struct{}

func (noFiles) Size(string) (int64, bool) { return 0, false }
func (noFiles) Read(string, int) Excerpt  { return Excerpt{} }

func TestBriefOfARunThatAwaitsTheSession(t *testing.T) {
	got := Build(parked()).Brief("/w/r1", "r1", nil)
	for _, want := range []string{"phase awaiting\n", "verdict none\nexit none\nreport none\n", "job scout awaiting - -\njob fix awaiting - -\njob read success", "next orchestrate next r1 --wait 50s --json\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// While an engine carries the run on, a job that nobody of the session has comes before
// waiting for the end.
func TestBriefSaysWhatTheSessionCanDoMeanwhile(t *testing.T) {
	soon := day.Add(2 * time.Hour)
	for _, tc := range []struct {
		name    string
		session Session
		next    string
	}{
		{"nobody has it", Session{}, "orchestrate next r1 --wait 50s --json"},
		{"somebody has it", Session{Until: &soon}, "orchestrate wait --brief r1"},
		{"it was handed in", Session{HandedInAt: &day}, "orchestrate wait --brief r1"},
	} {
		in := parked()
		in.Standing, in.Sessions = Running, map[string]Session{"scout": tc.session}
		if got := Build(in).Brief("/w", "r1", nil); !strings.HasSuffix(got, "next "+tc.next+"\n") {
			t.Errorf("%s:\n%s", tc.name, got)
		}
	}
}

func TestUsageOfTheSessionIsShownWhereItSaid(t *testing.T) {
	s := ledger.JobStatus{Runtime: handoff.Runtime, Attempts: 1, Usage: &runtime.Usage{InputTokens: ptr(int64(7))}}
	if got := costOf(s); got != "7 tokens in" {
		t.Errorf("said: %q", got)
	}
}
