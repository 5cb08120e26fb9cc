package engine

import (
	"cmp"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// sessionOf is what another attempt needs to go on with this one's session. work is what was
// recorded of it, nil = nothing was.
func sessionOf(a *attempt, st ledger.JobStatus, work *ledger.Work) ledger.Session {
	s := ledger.Session{
		SchemaVersion: ledger.SchemaVersion, Job: a.job.ID, Attempt: a.n, Runtime: st.Runtime,
		SessionID: st.SessionID, Model: st.Model, Cwd: a.at.dir, ResumedFrom: st.ResumedFrom, Access: a.route.Access,
	}
	if a.at.isolated {
		s.Worktree = a.at.top
	}
	if work != nil {
		s.Commit = cmp.Or(work.Commit, work.Base)
	}
	var in, out int64 // of the session before this attempt
	if a.resumes != nil {
		s.ResumeOf, in, out = a.resumes.Of, a.resumes.InputTokens, a.resumes.OutputTokens
	}
	if u := st.Usage; u != nil {
		s.InputTokens, s.OutputTokens = sum(in, u.InputTokens), sum(out, u.OutputTokens)
	}
	return s
}

// keptSession is the session that an attempt goes on with, if its runtime says that very id
// again where it did; "" = none.
func (r *run) keptSession(a *attempt) string {
	ad, ok := r.eng.adapter(a.route.Runtime)
	if k, keeps := ad.(runtime.SessionKeeper); ok && keeps && k.KeepsSession() && a.resumes != nil {
		return a.resumes.Session
	}
	return ""
}

// sum adds a count that may be unknown to one that is known.
func sum(before int64, more *int64) *int64 {
	if more == nil {
		return nil
	}
	return new(before + *more)
}

// countFrom tells the decoder what the session had used before this attempt, so that the
// tokens of a runtime that counts over the whole session are counted once.
func (a *attempt) countFrom() {
	if a.resumes != nil {
		a.cmd.Decoder.BaselineInput, a.cmd.Decoder.BaselineOut = a.resumes.InputTokens, a.resumes.OutputTokens
	}
}

// onceInSession is a decision about an attempt that went on with a session: only there can
// it be tried again, and only where the session has not seen its prompt.
func onceInSession(d policy.Decision, begun bool) policy.Decision {
	if d.Fallback {
		d.Fallback, d.Retry = false, d.OrRetry
		d.Why = "no fallback: no other runtime has its session"
	}
	if begun && d.Retry {
		d.Retry, d.Why = false, "not tried again: its session has begun on it, and cannot be set back"
	}
	d.OrRetry = false
	return d
}

// leftAt is the commit at which the tree was left in which a job goes on with a session,
// "" = its session is at home in the shared checkout.
func (r *run) leftAt(j *spec.Job) string {
	if j.Continue == "" {
		return j.Worker.Resumes.Base
	}
	if c, ok := r.snapshot(j.Continue); ok && r.isolated(j.Continue) {
		return c
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.jobs[j.Continue].base
}
