package engine

import (
	"slices"
	"testing"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// TestLayer1TakesNotTheGatesWord: a job that got past it without what it needs breaks a
// rule when it is over.
func TestLayer1TakesNotTheGatesWord(t *testing.T) {
	controls := []string{
		route.ControlCwd, route.ControlTimeout, route.ControlCapture, route.ControlFingerprint,
		string(runtime.ControlReadOnly), string(runtime.ControlToolLimits),
	}
	for _, c := range []struct {
		name     string
		job      spec.Job
		lost     string // a control that is not on the record
		given    []ledger.Given
		rehearse bool
		rules    []string
	}{
		{name: "all is there"},
		{name: "a control is not", lost: route.ControlFingerprint, rules: []string{arbiter.RuleRiskControls}},
		{name: "nobody approved it", job: spec.Job{Approval: "require"}, rules: []string{arbiter.RuleApproval}},
		{name: "another job was approved", job: spec.Job{Approval: "require"}, given: []ledger.Given{{Approval: ledger.Approval{Job: "b", By: "tty"}}}, rules: []string{arbiter.RuleApproval}},
		{name: "somebody approved it", job: spec.Job{Approval: "require"}, given: []ledger.Given{{Approval: ledger.Approval{Job: "a", By: "tty"}}}},
		{name: "a rehearsal asks nobody", job: spec.Job{Approval: "require"}, rehearse: true},
	} {
		c.job.ID, c.job.Effect = "a", "observe"
		held := slices.DeleteFunc(slices.Clone(controls), func(s string) bool { return s == c.lost })
		r := &run{plan: &Plan{Request: Request{Rehearse: c.rehearse}}, given: c.given}
		f := arbiter.JobFacts{Job: &c.job, ID: "a", Probed: true, Status: ledger.JobStatus{
			Status: ledger.Success, Attempts: 1, Proof: &ledger.Proof{Gone: true},
			Route: &ledger.Route{Runtime: "r", Access: string(runtime.AccessRead), Risk: "R0", RiskWhy: "it only reads", Controls: held},
		}}
		r.gated(&f)
		var rules []string
		for _, found := range arbiter.Layer1([]arbiter.JobFacts{f}) {
			rules = append(rules, found.Rule)
		}
		if !slices.Equal(rules, c.rules) {
			t.Errorf("%s: %q, want %q", c.name, rules, c.rules)
		}
	}
}
