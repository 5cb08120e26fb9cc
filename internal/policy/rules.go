package policy

import (
	"fmt"

	"orchestrate/internal/spec"
)

// Tiers is what policy says a job needs.
type Tiers struct {
	Capability Capability // floor; NoCapability for a plain program
	Risk       Risk
	RiskWhy    string
}

// TiersOf applies the floors to a job; see RiskFactsOf for the arguments.
func TiersOf(j *spec.Job, beside string, sensitive func(name string) string) Tiers {
	t := Tiers{Capability: CapabilityFloor(j.Task, j.Importance)}
	if j.Exec() && !Judges(j.Task) {
		t.Capability = NoCapability
	}
	t.Risk, t.RiskWhy = RiskOf(RiskFactsOf(j, beside, sensitive))
	return t
}

// CheckNeeded reports whether a job must have a check: a writer from R2 on. In the worker
// form nothing must be checked; that is what its label says.
func CheckNeeded(j *spec.Job, r Risk) bool {
	return j.Worker == nil && j.Writes() && !r.Less(R2)
}

// Validate applies the rules that need a job's tiers: work at R2 is isolated, a
// writer there has a check, and R3 says what it will do and how to undo it. i is
// the job's place in the spec.
func Validate(i int, j *spec.Job, t Tiers) []spec.Diagnostic {
	var errs []spec.Diagnostic
	add := func(field, rule, format string, args ...any) {
		errs = append(errs, spec.Diagnostic{
			Pos: j.Pos, Field: fmt.Sprintf("jobs[%d].%s", i, field), Rule: rule,
			Message: fmt.Sprintf(format, args...),
		})
	}
	if t.Risk.Less(R2) {
		return nil
	}
	if j.Isolation == "none" && t.Risk == R2 {
		add("isolation", "isolation", "%q is \"none\", but the job is %s (%s) and needs a worktree; leave isolation out or write \"worktree\"",
			j.ID, t.Risk, t.RiskWhy)
	}
	if CheckNeeded(j, t.Risk) && len(j.Checks) == 0 {
		add("checks", "check-needed", "%q writes at %s (%s) and has no check; name at least one command or assertion",
			j.ID, t.Risk, t.RiskWhy)
	}
	if t.Risk == R3 && (j.Preview == "" || j.Rollback == "") {
		add("preview", "preview-needed", "%q is %s (%s): say in preview what it will do and in rollback how to undo it",
			j.ID, t.Risk, t.RiskWhy)
	}
	return errs
}
