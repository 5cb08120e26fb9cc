package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"orchestrate/internal/engine"
	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
)

// member is a job of a list, on one route.
func member(n int) engine.JobPreview {
	j := engine.JobPreview{ID: fmt.Sprintf("audit-%d", n), Task: "review", Prompt: fmt.Sprintf("audit module %d", n)}
	j.Route = ledger.Route{Runtime: "claude", Risk: "R0", RiskWhy: "it observes", Why: "named by the spec"}
	j.Pattern = &engine.PatternPreview{
		Pattern: report.Pattern{Kind: "foreach", Of: "audit", Number: n, List: "audit"}, Most: 500,
		Item: fmt.Sprintf("m%d", n), Says: "an item each of the list that job list makes ($.modules), at most 500",
	}
	return j
}

func planned500() engine.Preview {
	p := engine.Preview{Spec: "jobs.yaml", Root: "/w"}
	var ids []string
	for n := 1; n <= 500; n++ {
		j := member(n)
		if n == 7 { // one that goes elsewhere
			j.Route.Runtime = "codex"
		}
		p.Jobs, ids = append(p.Jobs, j), append(ids, j.ID)
	}
	gather := engine.JobPreview{ID: "check", DependsOn: []string{"check-1", "check-2"}}
	gather.Pattern = &engine.PatternPreview{Pattern: report.Pattern{Kind: "votes", Of: "check", Gathers: true}, Says: "2 votes, 2 must accept (verdict = pass)"}
	vote := engine.JobPreview{ID: "check-1", Task: "review", Pattern: &engine.PatternPreview{Pattern: report.Pattern{Kind: "votes", Of: "check", Number: 1}}}
	join := engine.JobPreview{ID: "all", DependsOn: ids, Prompt: strings.Repeat("- an answer\n", 900)}
	join.Pattern = &engine.PatternPreview{Pattern: report.Pattern{Kind: "join", Of: "all"}, Says: "the results of audit-1, audit-2, of which 400 must have succeeded"}
	p.Jobs = append(p.Jobs, vote, gather, join, engine.JobPreview{ID: "next", Continues: "all"})
	return p
}

func TestAPlanSaysOnceWhatAListHasInCommon(t *testing.T) {
	var out bytes.Buffer
	showPlan(&out, planned500())
	text := out.String()
	for _, want := range []string{
		"audit  (foreach, 500 jobs)", "an item each of the list that job list makes ($.modules), at most 500",
		"members: audit-1, audit-2, audit-3, …, audit-500 (500 in all)", "item 1 of audit: m1", "item 7 of audit: m7",
		"audit-2, audit-3, audit-4, …, audit-500 (498 in all): but for what each is for",
		"check  (votes, 1 job)", "2 votes, 2 must accept (verdict = pass)", "check  (made by the engine)", "gathers the votes",
		"join: the results of audit-1, audit-2, of which 400 must have succeeded", "goes on with the session of all",
		"[… 700 lines more: see plan --json]",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the plan does not say %q", want)
		}
	}
	if n := strings.Count(text, "\n"); n > 350 {
		t.Errorf("the plan of 500 jobs that are alike has %d lines", n)
	}
	if t.Failed() {
		t.Log(text)
	}
}
