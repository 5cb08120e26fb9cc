package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// TestJobsBlockedAlikeAreToldOnce: a list that cannot be used blocks as many jobs as there
// could have been.
func TestJobsBlockedAlikeAreToldOnce(t *testing.T) {
	in := patterned()
	in.NextSteps = map[string]string{}
	for n := 1; n <= 300; n++ {
		id := fmt.Sprintf("p-%d", n)
		in.State.Jobs = append(in.State.Jobs, ledger.JobState{ID: id, Status: ledger.Blocked})
		in.Jobs[id] = ledger.JobStatus{ID: id, Status: ledger.Blocked, Reason: runtime.BlockedExpansion, ReasonEvidence: untrusted.From("the answer is no JSON")}
		in.NextSteps[id] = "see the answer"
	}
	for _, id := range []string{"q", "s"} { // by something else, and two are told one by one
		in.State.Jobs = append(in.State.Jobs, ledger.JobState{ID: id, Status: ledger.Blocked})
		in.Jobs[id] = ledger.JobStatus{ID: id, Status: ledger.Blocked, Reason: runtime.BlockedNoRoute, ReasonEvidence: untrusted.From("nothing is there")}
	}
	r := Build(in)
	md := string(r.Markdown())
	page, err := r.HTML(noFiles{})
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"report.md": md, "report.html": string(page)} {
		if strings.Contains(text, "p-150") || !strings.Contains(text, "and 299 more") || !strings.Contains(text, "p-300") {
			at := max(0, strings.Index(text, "p-150")-300)
			t.Errorf("%s tells each of them, or not of all of them: …%s", where, text[at:min(len(text), at+400)])
		}
		if len(text) > 100<<10 {
			t.Errorf("%s has %d bytes", where, len(text))
		}
	}
	if got := strings.Count(md, "the answer is no JSON"); got != 2 { // in the table, and why it is blocked
		t.Errorf("report.md has the reason %d times", got)
	}
	need := strings.Join(r.NeedsPerson, "\n")
	for _, want := range []string{"jobs p-1 and 299 more alike: p-2, p-3, ", "… p-300, are blocked: expansion; next: see the answer", "job q is blocked: no_route", "job s is blocked: no_route"} {
		if !strings.Contains(need, want) {
			t.Errorf("no %q in\n%s", want, need)
		}
	}
	if n := strings.Count(need, "p-1 "); n != 1 {
		t.Errorf("p-1 needs a person %d times:\n%s", n, need)
	}
	data, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(data), `"p-150"`) || strings.Contains(string(data), "Alike") {
		t.Errorf("report.json has not each of them: %v", err)
	}
}
