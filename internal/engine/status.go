package engine

import (
	"strings"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/route"
	"orchestrate/internal/supervise"
)

// statusOf is an attempt's status as far as its route and its exit say it. An
// attempt 0 never ran.
func (r *run) statusOf(a *attempt) ledger.JobStatus {
	taken := a.route // a copy, so that the status does not keep the attempt with its prompt
	s := ledger.JobStatus{
		SchemaVersion: ledger.SchemaVersion, ID: a.job.ID, Task: a.job.Task, Attempts: a.n,
		Runtime: a.route.Runtime, Model: a.route.Model, RequestedModel: a.route.Model, Agent: a.route.Agent,
		CapabilityTier: a.route.Capability, RiskTier: a.route.Risk, Route: &taken,
		FallbackReason: route.FallbackReason(a.route), Rehearsal: a.route.Runtime == runtimeStandin,
		Controls: append([]string{}, a.route.Controls...), Artifacts: []ledger.Artifact{}, Checks: []ledger.Check{},
	}
	if a.job.Item != nil {
		s.Item = a.job.Item.Value
	}
	if a.n == 0 {
		return s
	}
	now := r.eng.Now()
	if a.taken && !a.exit.EndedAt.IsZero() {
		now = a.exit.EndedAt // and not when an engine was there again
	}
	took := max(0, now.Sub(a.begun)) // the clock may have been set back meanwhile
	begun, ended := a.begun.UTC().Round(0), a.begun.Add(took).UTC().Round(0)
	s.StartedAt, s.EndedAt, s.DurationMs = &begun, &ended, took.Milliseconds()
	s.Proof = &ledger.Proof{Level: string(a.exit.Proof.Level), Gone: a.exit.Proof.Gone}
	if a.neverRan() {
		s.Proof = &ledger.Proof{Level: string(supervise.ProofNone), Gone: true} // there was no tree
	}
	s.ExitCode, s.Signal = a.exit.ExitCode, a.exit.Signal
	s.TimedOut = a.exit.Stop == supervise.StopTimeout || a.exit.Stop == supervise.StopFirstOutput || a.overtime
	s.Truncated = ledger.Truncated(a.exit.Truncated)
	if a.resumes != nil {
		s.ResumedFrom = a.resumes.Session
	}
	s.SessionID, s.ObservedModel, s.Usage = a.exit.Outcome.SessionID, a.exit.Outcome.ObservedModel, a.exit.Outcome.Usage
	if s.ObservedModel != "" {
		s.Model = s.ObservedModel
	}
	if did := a.didIt(); did != "" {
		s.Agent = did
		taken.Controls, taken.Constrained = r.ofAnother(a, did)
		s.Controls = append([]string{}, taken.Controls...)
	}
	if !a.job.Exec() {
		taken.Family = policy.FamilyThatAnswered(r.profile(a.route.Runtime), a.route.Model, a.route.Family, s.ObservedModel, r.eng.Operator)
	}
	if a.at.isolated && !r.isArbiter(a) { // that of the arbiter does not outlive it
		worktree, branch := r.shown(a.at.top), a.at.branch
		s.Worktree = &worktree
		if branch != "" {
			s.Branch = &branch
		}
	}
	return s
}

// neverRan reports that no process was ever started for the attempt.
func (a *attempt) neverRan() bool { return !a.handed }

// shown is a path as records hold it: from the run directory where it lies in it.
func (r *run) shown(path string) string {
	if rest, ok := strings.CutPrefix(path, r.led.Dir+"/"); ok {
		return rest
	}
	return path
}

// describe adds how the attempt ended and what it left.
func (s *settlement) describe(st *ledger.JobStatus, how policy.Settlement) {
	st.Status, st.Reason, st.ReasonEvidence = how.Status, how.Reason, how.Evidence
	st.Artifacts = append(st.Artifacts, s.artifacts...)
	st.Checks = append(st.Checks, s.checks...)
}

// factsOf is what layer 1 is told about an attempt.
func factsOf(a *attempt, tiers policy.Tiers, st ledger.JobStatus, s *settlement) arbiter.JobFacts {
	return arbiter.JobFacts{
		Job: a.job, ID: a.job.ID, Exec: a.job.Exec(), Status: st,
		CapabilityFloor: string(tiers.Capability), RiskFloor: string(tiers.Risk),
		Outputs: s.problems, Outside: s.facts.Ownership, Observed: s.facts.WroteObserving, Secrets: s.facts.InjectedSecret,
	}
}
