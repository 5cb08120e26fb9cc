package route

import (
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/spec"
)

// ArbiterInput is what the arbiter's route depends on; see Input for the fields of
// the same name. Dir is the folder that the arbiter works in.
type ArbiterInput struct {
	Arbiter   spec.Arbiter
	Dir       string
	Profiles  map[string]runtime.Profile
	Known     []string
	Operator  policy.Operator
	Sandbox   sandbox.Level
	Own       map[string]bool
	Producers []Producer
	Failures  map[string]int
	Builds    func(name string, req runtime.Request) error
	Rehearse  bool
}

// ArbiterID is the id under which the arbiter is routed and recorded.
const ArbiterID = "arbiter"

// ways are the ways on when no arbiter qualifies.
const ways = "; or say `arbiter: {mode: checks-only}` where no job is above R1, or try the spec with `orchestrate rehearse SPEC`"

// ArbiterJob is the arbiter as a job: it judges, and only reads.
func ArbiterJob(a spec.Arbiter, dir string) *spec.Job {
	return &spec.Job{
		ID: ArbiterID, Task: policy.TaskArbiter, Importance: "normal", Effect: "observe",
		Runtime: a.Runtime, Model: a.Model, Cwd: dir, Timeout: a.Timeout,
	}
}

// ArbiterRoute picks the arbiter: C3, read-only, of a family known to differ from
// all producers' where there is one. Without a qualified route the Block says how
// a person can go on.
func ArbiterRoute(in ArbiterInput) (ledger.Route, *Block) {
	r, block := Choose(Input{
		Job:     ArbiterJob(in.Arbiter, in.Dir),
		Tiers:   policy.Tiers{Capability: policy.C3, Risk: policy.R0, RiskWhy: "the arbiter only reads"},
		Sandbox: in.Sandbox, Own: in.Own,
		Profiles: in.Profiles, Operator: in.Operator, Failures: in.Failures, Builds: in.Builds,
		Known: in.Known, NoWorktree: "the arbiter works in none", Producers: in.Producers, NoAgents: len(in.Producers) == 0, Rehearse: in.Rehearse,
		RequireIndependent: in.Arbiter.RequireIndependent && !in.Rehearse,
	})
	if block != nil {
		block.NextStep += ways
	}
	return r, block
}
