package engine

import (
	"fmt"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/shellword"
)

// sessionHas takes in whether somebody of the hosting session may still work in the tree
// of an attempt, whose files are in a folder of the run: whoever took it, until something
// came back. No lock and no process tells.
func (r *runLeft) sessionHas(t *treeLeft, at string) error {
	request, there, err := handoff.ReadRequest(r.led, at)
	if err != nil || !there || request.N != t.n {
		return err
	}
	lease, taken, err := handoff.ReadLease(r.led, at, request.Attempt)
	if err != nil || !taken || !lease.Given() || lease.Lapsed && !request.Writes() {
		return err
	}
	if _, back, err := handoff.ReadSubmission(r.led, at, request.Attempt); err != nil || back || r.live != "" {
		return err
	}
	if t.ended && (t.status.Proof == nil || t.status.Proof.Gone) {
		return nil
	}
	r.live = fmt.Sprintf("attempt %d of job %s is with the hosting session, or nobody has said that it has ended", t.n, t.job)
	r.ends = fmt.Sprintf("orchestrate submit %s %s --attempt %s --failed \"it has ended\"", shellword.Quote(r.id), shellword.Quote(t.job), shellword.Quote(request.Attempt))
	return nil
}

// statedEnd reports whether the end of an attempt is a matter of the hosting session's
// word.
func statedEnd(s ledger.JobStatus) bool {
	return s.Proof != nil && s.Proof.Level == string(proofStated)
}
