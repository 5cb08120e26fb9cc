package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/ledger"
)

func TestBrief(t *testing.T) {
	want := `run 20260730-120005
dir /w/plans/reports/orchestrate-20260730-120005
phase ended
verdict fail
exit 1
report report.md
jobs 2/5/3
cost $0.0125, 1000 tokens in, 50 out (1 attempt did not say)
job test failed check_failed test/output.md
job review blocked dependency -
job audit blocked no_route -
job scout success - scout/output.md
job write success - write/output.md
person job write (scoped-write) was approved by a flag, without being shown: see approvals.json
person the verdict is fail: see in report.md why, before using anything of this run
person job test is failed: check_failed; next: orchestrate output RUN test
person job audit is blocked: no_route; next: claude auth login
person the patch of job write waits to be integrated: orchestrate report 20260730-120005 shows the command
next orchestrate explain 20260730-120005 test
`
	if diff := cmp.Diff(want, Build(sample()).Brief("/w/plans/reports/orchestrate-20260730-120005", "20260730-120005", nil)); diff != "" {
		t.Error(diff)
	}
}

// However many jobs there are, the list is short, and what failed is in it.
func TestBriefOfManyJobs(t *testing.T) {
	in := Input{Standing: Running, State: ledger.State{RunID: "x"}}
	for i := range 500 {
		j := ledger.JobState{ID: fmt.Sprintf("job-%03d", i), Status: ledger.Success}
		switch {
		case i == 400:
			j.Status, j.Reason = ledger.Failed, "timeout\n\x1b[2J"
		case i == 401:
			j.Status = ledger.Running
		case i > 401:
			j.Status = ledger.Queued
		}
		in.State.Jobs = append(in.State.Jobs, j)
	}
	text := Build(in).Brief("/d", "x", nil)
	if !strings.Contains(text, "cost none, no agent ran\njob job-400 failed timeout") || !strings.Contains(text, "\njob job-401 running - -\njob job-000 success - -\n") {
		t.Errorf("%s", text)
	}
	if !strings.Contains(text, "\nmore 372 success\nmore 98 queued\n") || !strings.HasSuffix(text, "next orchestrate wait --brief x\n") {
		t.Errorf("%s", text)
	}
	if n := strings.Count(text, "\n"); n > 50 || strings.Contains(text, "\x1b") {
		t.Errorf("%d lines: %q", n, text)
	}
}
