package engine

import (
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// aboutPattern is for jobs of patterns, and for those that go on with a session.
func (t trouble) aboutPattern() string {
	switch t.status.Reason {
	case runtime.ReasonTurnCap:
		return "raise max_turns, or ask for less in one job; what it had done is in " + t.file(ledger.EventsFile) + again
	case runtime.ReasonBadAnswer:
		return "see " + t.file(ledger.OutputFile) + " for what it answered (" + t.evidence() + "); its prompt must leave it no other form" + t.then()
	case runtime.ReasonNotVerified:
		return t.notVerified()
	case runtime.ReasonTooFew:
		return "see to the jobs that it joins (" + t.evidence() + ")" + t.then() + "; or lower its require" + again
	case runtime.NotNeeded:
		return "nothing: its pattern did not need it (" + t.evidence() + ")"
	case runtime.BlockedExpansion:
		return "see the answer of the job that makes the list (" + t.evidence() + "); have that one say it otherwise, or change foreach" + again
	case runtime.BlockedSession:
		if _, inUse := ledger.UserOf(t.status.ReasonEvidence.Line(0)); inUse {
			return "wait until that has ended (" + t.evidence() + ")" + again
		}
		return "its session cannot be gone on with (" + t.evidence() + "): leave continue out, so that it begins one of its own" + again
	}
	return ""
}

// notVerified says where to read what the verifications, or the votes, found.
func (t trouble) notVerified() string {
	step := "read what was found (" + t.evidence() + ")"
	if t.job.Gather != nil && t.job.Gather.Kind == spec.PatternRepair {
		step += "; mend it by hand, or allow more rounds in repair"
	} else {
		step += "; see to it in the work, not in the votes"
	}
	return step + again
}
