package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// patterned is a run of a list that was shorter than it could have been, votes over it, and
// work that was repaired with its session.
func patterned() Input {
	in := Input{
		RunDir: "plans/reports/orchestrate-20260730-120005", SpecPath: "jobs.yaml",
		State: ledger.State{RunID: "20260730-120005", Phase: ledger.PhaseEnded, StartedAt: day, EndedAt: ptr(day.Add(time.Minute)), Verdict: "fail", ExitStatus: ptr(1)},
		Jobs:  map[string]ledger.JobStatus{}, Patterns: map[string]Pattern{}, Continues: map[string]string{"fix-2": "fix-1"},
		After: map[string][]string{"vote": {"vote-1", "vote-2"}, "last": {"vote"}},
	}
	add := func(s ledger.JobStatus, p *Pattern) {
		if s.Attempts > 0 {
			s.Runtime, s.EndedAt, s.StartedAt = "claude", ptr(day.Add(time.Second)), ptr(day)
		}
		in.State.Jobs = append(in.State.Jobs, ledger.JobState{ID: s.ID, Status: s.Status, Attempt: s.Attempts})
		in.Jobs[s.ID] = s
		if p != nil {
			in.Patterns[s.ID] = *p
		}
	}
	for n := 1; n <= 5; n++ {
		p := &Pattern{Kind: spec.PatternForeach, Of: "audit", Number: n, List: "audit"}
		s := ledger.JobStatus{ID: fmt.Sprintf("audit-%d", n), Status: ledger.Success, Attempts: 1, Item: json.RawMessage(fmt.Sprintf(`"mod\u202e%d"`, n))}
		if n > 2 {
			s = ledger.JobStatus{ID: s.ID, Status: ledger.Skipped, Reason: runtime.NotNeeded, ReasonEvidence: untrusted.From("the list has 2 items")}
		}
		add(s, p)
	}
	add(ledger.JobStatus{ID: "vote-1", Status: ledger.Success, Attempts: 1}, &Pattern{Kind: spec.PatternVotes, Of: "vote", Number: 1})
	add(ledger.JobStatus{ID: "vote-2", Status: ledger.Success, Attempts: 1}, &Pattern{Kind: spec.PatternVotes, Of: "vote", Number: 2})
	add(ledger.JobStatus{ID: "vote", Status: ledger.Failed, Reason: runtime.ReasonNotVerified, ReasonEvidence: untrusted.From("1 of 2 accepted"), Decided: "1 of 2 accepted, 2 required: pass, fail"},
		&Pattern{Kind: spec.PatternVotes, Of: "vote", Gathers: true})
	add(ledger.JobStatus{ID: "fix-1", Status: ledger.Success, Attempts: 1}, nil)
	add(ledger.JobStatus{ID: "fix-2", Status: ledger.Success, Attempts: 1}, nil)
	add(ledger.JobStatus{ID: "last", Status: ledger.Success, Attempts: 1}, nil)
	return in
}

func TestWhatNobodyDidCountsForNothing(t *testing.T) {
	r := Build(patterned())
	if want := (Totals{Total: 7, Succeeded: 7, Skipped: 3, Unmet: 1}); r.Totals != want {
		t.Errorf("totals are %+v, want %+v", r.Totals, want)
	}
	if got, want := r.Totals.String(), "7 of 7 jobs succeeded, 0 failed, 0 blocked, 0 interrupted, 0 not settled, 1 pattern not met; besides, 3 not needed"; got != want {
		t.Errorf("the totals say %q, want %q", got, want)
	}
	for _, line := range r.NeedsPerson {
		if strings.Contains(line, "audit-") {
			t.Errorf("a job that was not needed needs a person: %s", line)
		}
	}
	if need := strings.Join(r.NeedsPerson, "\n"); !strings.Contains(need, "job vote is failed: not_verified") {
		t.Errorf("the votes that did not accept are not told: %s", need)
	}
}

func TestPatternsInEveryForm(t *testing.T) {
	r := Build(patterned())
	md := string(r.Markdown())
	page, err := r.HTML(noFiles{})
	if err != nil {
		t.Fatal(err)
	}
	brief := r.Brief("/dir", r.RunID, nil)
	for _, c := range []struct {
		form, text    string
		wants, nevers []string
	}{
		{"report.md", md, []string{
			"audit: 3 of 5 jobs not needed (the list has 2 items)", "1 of 2 accepted, 2 required: pass, fail",
			"`audit-1` for `mod(U+202E)1`", "`fix-2`, goes on with `fix-1`", "the engine",
		}, []string{"`audit-3`", "`audit-4`"}},
		{"report.html", string(page), []string{
			"audit: 3 of 5 jobs not needed (the list has 2 items)", "gathers the votes; 1 of 2 accepted, 2 required: pass, fail",
			"item 1 of audit; for mod(U&#43;202E)1", "goes on with the session of fix-1",
		}, []string{"audit-3", "audit-5"}},
		{"brief", brief, []string{"jobs 7/7/0\n", "job vote failed not_verified", "more 3 skipped\n", "next orchestrate explain 20260730-120005 vote"}, []string{"job audit-3"}},
	} {
		for _, want := range c.wants {
			if !strings.Contains(c.text, want) {
				t.Errorf("%s does not say %q:\n%s", c.form, want, c.text)
			}
		}
		for _, never := range c.nevers {
			if strings.Contains(c.text, never) {
				t.Errorf("%s names %q, which was not needed", c.form, never)
			}
		}
	}
}

// TestTheCriticalPathGoesThroughWhatIsGathered: a gathering takes no time, those before it do.
func TestTheCriticalPathGoesThroughWhatIsGathered(t *testing.T) {
	in := patterned()
	last := in.Jobs["last"]
	last.EndedAt = ptr(day.Add(9 * time.Second))
	in.Jobs["last"] = last
	path := Build(in).criticalPath()
	if !path["last"] || !path["vote-1"] && !path["vote-2"] || path["vote"] {
		t.Errorf("the path is %v", path)
	}
}
