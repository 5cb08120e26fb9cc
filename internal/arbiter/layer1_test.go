package arbiter

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/check"
	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// writer2 is a job of R2 with which nothing is wrong.
func writer2() JobFacts {
	tree := "worktrees/fix"
	return JobFacts{
		ID: "fix",
		Job: &spec.Job{
			ID: "fix", Effect: "high-impact-write", Checks: []spec.Check{{Name: "unit", Shell: "x"}, {Assert: "y"}},
			Outputs: []spec.Output{{Path: "o.md", SHA256: "AB"}},
		},
		CapabilityFloor: "C2", RiskFloor: "R2", Probed: true,
		Status: ledger.JobStatus{
			Status: ledger.Success, Attempts: 1, Worktree: &tree, Proof: &ledger.Proof{Level: "subreaper", Gone: true},
			Route:     &ledger.Route{Runtime: "r", Capability: "C3", Risk: "R2"},
			Artifacts: []ledger.Artifact{{Path: "o.md", SHA256: "ab", Bytes: 2}},
			Checks:    []ledger.Check{{Name: "unit", Kind: "run", Status: check.Passed}, {Name: "check-2", Kind: "assert", Status: check.ForArbiter}},
		},
	}
}

// TestEachRule: from the job with which nothing is wrong, each row breaks one rule.
func TestEachRule(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*JobFacts)
		rules  []string
	}{
		{"nothing", func(*JobFacts) {}, nil},
		{"failed", func(f *JobFacts) { f.Status.Status, f.Status.Reason = ledger.Failed, runtime.ReasonTimeout }, []string{RuleJobFailed}},
		{"blocked", func(f *JobFacts) {
			f.Status = ledger.JobStatus{Status: ledger.Blocked, Reason: runtime.BlockedDependency}
		}, []string{RuleJobFailed}},
		{"interrupted", func(f *JobFacts) { f.Status.Status = ledger.Interrupted }, []string{RuleJobFailed}},
		{"still running", func(f *JobFacts) { f.Status.Status = ledger.Running }, []string{RuleSettlement}},
		{"never started", func(f *JobFacts) { f.Status = ledger.JobStatus{Status: ledger.Queued} }, []string{RuleSettlement}},
		{"processes left", func(f *JobFacts) { f.Status.Proof.Gone = false }, []string{RuleSettlement}},
		{"no proof", func(f *JobFacts) { f.Status.Proof = nil }, []string{RuleSettlement}},
		{"ended, as the session states", func(f *JobFacts) { f.Status.Proof.Level = handoff.Stated }, nil},
		{"not ended, as the session states", func(f *JobFacts) { f.Status.Proof = &ledger.Proof{Level: handoff.Stated} }, []string{RuleSettlement}},
		{"output missing", func(f *JobFacts) { f.Outputs = []check.Problem{{Path: "o.md", Rule: check.OutputMissing}} }, []string{RuleOutputMissing}},
		{"output not recorded", func(f *JobFacts) { f.Status.Artifacts = nil }, []string{RuleOutputMissing}},
		{"output recorded empty", func(f *JobFacts) { f.Status.Artifacts[0].Bytes = 0 }, []string{RuleOutputMissing}},
		{"output of other content", func(f *JobFacts) { f.Outputs = []check.Problem{{Path: "o.md", Rule: check.OutputHash}} }, []string{RuleOutputHash}},
		{"recorded content differs", func(f *JobFacts) { f.Status.Artifacts[0].SHA256 = "cd" }, []string{RuleOutputHash}},
		{"check failed", func(f *JobFacts) { f.Status.Checks[0].Status = check.Failed }, []string{RuleCheckFailed}},
		{"check timed out", func(f *JobFacts) { f.Status.Checks[0].Status = check.TimedOut }, []string{RuleCheckFailed}},
		{"check of an unknown status", func(f *JobFacts) { f.Status.Checks[0].Status = "" }, []string{RuleCheckFailed}},
		{"check not run", func(f *JobFacts) { f.Status.Checks[0].Status = check.NotRun }, []string{RuleCheckNotRun}},
		{"checks without results", func(f *JobFacts) { f.Status.Checks = nil }, []string{RuleCheckNotRun, RuleCheckNotRun}},
		{"failed by its check: said once", func(f *JobFacts) {
			f.Status.Status, f.Status.Reason, f.Status.Checks[0].Status = ledger.Failed, runtime.ReasonCheckFailed, check.Failed
		}, []string{RuleCheckFailed}},
		{"ownership", func(f *JobFacts) { f.Outside = []string{"x"} }, []string{RuleOwnership}},
		{"wrote while observing", func(f *JobFacts) { f.Observed = []string{"x"} }, []string{RuleWroteObserving}},
		{"secret", func(f *JobFacts) { f.Secrets = []string{"jwt"} }, []string{RuleInjectedSecret}},
		{"below its capability floor", func(f *JobFacts) { f.Status.Route.Capability = "C1" }, []string{RuleFloorCapability}},
		{"of unknown capability", func(f *JobFacts) { f.Status.Route.Capability = "" }, []string{RuleFloorCapability}},
		{"no route", func(f *JobFacts) { f.Status.Route = nil }, []string{RuleFloorCapability}},
		{"a program has no capability", func(f *JobFacts) { f.Exec, f.Status.Route.Capability = true, "" }, nil},
		{"below its risk floor", func(f *JobFacts) { f.Status.Route.Risk = "R1" }, []string{RuleFloorRisk}},
		{"not isolated", func(f *JobFacts) { f.Status.Worktree = nil }, []string{RuleFloorRisk}},
		{"a command recorded as an assertion", func(f *JobFacts) {
			f.Status.Checks[0].Kind, f.Status.Checks[0].Status = "assert", check.ForArbiter
		}, []string{RuleCheckNotRun}},
		{"an output changed since", func(f *JobFacts) { f.Differs = []string{"o.md"} }, []string{RuleOutputHash}},
		{"controls of its tier", func(f *JobFacts) { f.Lacking = "R2 needs controls that r does not hold: worktree" }, []string{RuleRiskControls}},
		{"not approved", func(f *JobFacts) { f.Unapproved = "nobody approved it" }, []string{RuleApproval}},
		{"another snapshot", func(f *JobFacts) { f.Moved = "its commit is gone" }, []string{RuleSnapshot}},
		{"not probed", func(f *JobFacts) { f.Probed = false }, []string{RuleInventoryStale}},
		{"the arbiter itself", func(f *JobFacts) {
			f.ID, f.Job, f.Status.Checks, f.Status.Worktree = "arbiter", nil, nil, nil
		}, nil},
	} {
		f := writer2()
		c.change(&f)
		var rules []string
		for _, found := range Layer1([]JobFacts{f}) {
			rules = append(rules, found.Rule)
			if found.Job != f.ID || found.Detail == "" || len(found.Evidence) == 0 {
				t.Errorf("%s: %+v", c.name, found)
			}
		}
		if diff := cmp.Diff(c.rules, rules); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestEvidenceNamesWhatShowsIt: a person can open it in the run directory.
func TestEvidenceNamesWhatShowsIt(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*JobFacts)
		want   []string
	}{
		{"check", func(f *JobFacts) {
			f.Status.Checks[0].Status, f.Status.Checks[0].Output = check.Failed, "fix/checks/1.out"
		}, []string{"fix/checks/1.json", "fix/checks/1.out"}},
		{"failed", func(f *JobFacts) { f.Status.Status = ledger.Failed }, []string{"fix/status.json", "fix/exit.json"}},
		{"gathered", func(f *JobFacts) {
			f.Status = ledger.JobStatus{Status: ledger.Failed, Reason: "not_verified"}
		}, []string{"fix/status.json"}},
		{"blocked", func(f *JobFacts) { f.Status = ledger.JobStatus{Status: ledger.Blocked} }, []string{"fix/status.json"}},
		{"queued", func(f *JobFacts) { f.Status = ledger.JobStatus{Status: ledger.Queued} }, []string{"state.json"}},
		{"ownership", func(f *JobFacts) { f.Outside = []string{"x"} }, []string{"fix/status.json", "fix/changes.patch"}},
		{"its answer", func(f *JobFacts) { f.Differs = []string{"output.md"} }, []string{"fix/status.json", "fix/output.md"}},
		{"an output", func(f *JobFacts) { f.Differs = []string{"o.md"} }, []string{"fix/status.json", "fix/artifacts/o.md"}},
		{"an output in its tree", func(f *JobFacts) {
			f.Differs, f.Status.Artifacts[0].Source = []string{"o.md"}, "tree"
		}, []string{"fix/status.json", "fix/changes.patch"}},
		{"freshness", func(f *JobFacts) { f.Probed = false }, []string{"fix/status.json", "runtimes.json"}},
	} {
		f := writer2()
		c.change(&f)
		found := Layer1([]JobFacts{f})
		if len(found) != 1 {
			t.Errorf("%s: %+v", c.name, found)
			continue
		}
		if diff := cmp.Diff(c.want, found[0].Evidence); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
