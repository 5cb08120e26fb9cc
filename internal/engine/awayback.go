package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/supervise"
	"orchestrate/internal/untrusted"
)

// proofStated is the proof of an attempt that the hosting session carried out: its own
// word. Nothing of such an attempt can be seen from here.
const proofStated supervise.ProofLevel = handoff.Stated

// fromSession is what the hosting session's side of an attempt says.
type fromSession struct {
	lease      handoff.Lease // of nobody where nobody has taken it
	taken      bool
	submission *handoff.Submission // nil = nothing has come back
}

// lapsed reports whether the attempt is given up. That of a writer never is: nothing
// says that it writes no more.
func (b fromSession) lapsed(a *attempt) bool { return b.lease.Lapsed && !a.job.Writes() }

// fromSession reads it.
func (r *run) fromSession(a *attempt) (b fromSession, err error) {
	if b.lease, b.taken, err = handoff.ReadLease(r.led, a.job.ID, a.request.Attempt); err != nil {
		return b, err
	}
	if !b.taken {
		b.lease = handoff.Lease{}
	}
	back, there, err := handoff.ReadSubmission(r.led, a.job.ID, a.request.Attempt)
	if there {
		b.submission = &back
	}
	return b, err
}

// handoffLimit is how long the engine waits for a lock that is held for moments.
const handoffLimit = 10 * time.Second

// closeRequest sees to it that nobody takes an attempt any more and that nothing is taken of
// it, unless something has come back, and says how it then stands with the session.
func (r *run) closeRequest(ctx context.Context, a *attempt) (b fromSession, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handoffLimit)
	defer cancel()
	release, err := ledger.LockHandoff(ctx, r.led.Dir)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if b, err = r.fromSession(a); err != nil || b.submission != nil {
		return b, err
	}
	var lease *handoff.Lease
	if b.taken {
		lease = &b.lease
	}
	return b, handoff.Close(r.led, *a.request, lease, r.eng.Now())
}

// leftBySession takes in what is known of an attempt that is given up. One that only
// observes, or that nobody has taken, leaves nothing that could still write; of a writer
// nobody has said that it has ended.
func (r *run) leftBySession(a *attempt, b fromSession) {
	a.exit.Proof = nothingStarted
	given := b.taken && b.lease.Given()
	if a.begun = a.request.CreatedAt; given {
		a.begun = b.lease.At
	}
	if a.handed = given && a.job.Writes(); a.handed {
		a.exit.Proof = supervise.Proof{Level: proofStated, Left: []supervise.Process{}}
	}
}

// untaken takes in what is known of an attempt of which something came back that cannot be
// taken: the session says that it has ended, unless what a check of it started has not.
func (a *attempt) untaken(b fromSession) {
	if a.begun = a.request.CreatedAt; b.taken {
		a.begun = b.lease.At
	}
	a.handed = true
	if a.exit.Proof.Level == "" {
		a.exit.Proof = supervise.Proof{Level: proofStated, Gone: b.submission != nil, Left: []supervise.Process{}}
	}
}

// takeBack settles an attempt of which something has come back. err says that it cannot
// be read.
func (r *run) takeBack(ctx context.Context, slot int, a *attempt, b fromSession, err error) (s settlement, how policy.Settlement) {
	defer r.dropPrivate(a)
	defer func() { r.comeBack(ctx, a, &s) }()
	if err == nil {
		err = r.reclaim(ctx, a)
	}
	if err == nil {
		err = r.receive(ctx, a, b)
	}
	if err == nil {
		err = r.takeIn(a)
	}
	if err != nil {
		a.untaken(b)
		return s, policy.Settlement{Status: ledger.Failed, Reason: runtime.ReasonCrash, Evidence: untrusted.From("what the hosting session handed in cannot be taken: " + err.Error())}
	}
	return r.settled(ctx, slot, a, nil)
}

// reclaim takes the attempt's lock again. Who else may have it runs a check of an engine
// that died: its result is lost, and it is run once more.
func (r *run) reclaim(ctx context.Context, a *attempt) error {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := r.awaitEnd(ended, a); err != nil {
		return err
	}
	if held, err := r.led.AttemptLock(a.job.ID); err != nil || !held.Unended() {
		return err
	}
	if proof := r.endRemains(ctx, a); !proof.Gone {
		a.exit.Proof = proof
		return fmt.Errorf("processes of a check are not proven to have ended: %s", left(proof))
	}
	return nil
}

// receive makes what came back the end of the attempt, as a supervisor would tell it.
func (r *run) receive(ctx context.Context, a *attempt, b fromSession) error {
	back := *b.submission
	a.handed, a.back = true, &back
	if a.begun = a.request.CreatedAt; b.taken {
		a.begun = b.lease.At
	}
	r.tellAgent(a)
	took := max(0, back.At.Sub(a.begun))
	a.exit = supervise.Exit{
		Job: a.job.ID, Attempt: a.n, StartedAt: a.begun, EndedAt: back.At, DurationMs: took.Milliseconds(),
		Proof: supervise.Proof{Level: proofStated, Gone: true, Left: []supervise.Process{}},
		Outcome: runtime.Outcome{
			Completed: !back.Failed, ErrorFlag: back.Failed, WorkBegun: true, ObservedModel: back.Model, Usage: back.Usage,
		},
	}
	if back.Failed {
		a.exit.Outcome.Reason, a.exit.Outcome.Evidence = r.whyFailed(a, b)
		return nil
	}
	result, err := r.led.ReadFile(ledger.JobPath(a.job.ID, ledger.ResultFile))
	if err != nil {
		return err
	}
	if digest(result) != back.ResultSHA256 {
		return fmt.Errorf("%s is not what %s says", ledger.ResultFile, ledger.SubmissionFile)
	}
	a.exit.Outcome.Answer = untrusted.From(string(result))
	r.late(ctx, a, b, took)
	return nil
}

// whyFailed is what an attempt that was handed in as failed ended by. Of a writer whose
// lease was over it only says that it has ended, so that the job can be handed out again:
// once, for else a session that does the same each time would never come to an end.
func (r *run) whyFailed(a *attempt, b fromSession) (runtime.Reason, untrusted.Text) {
	said := untrusted.From(b.submission.Reason)
	if !a.job.Writes() || !b.taken || !b.lease.Over(b.submission.At) || r.lapsedBefore(a.job.ID) {
		return runtime.ReasonSessionFailed, said
	}
	return runtime.ReasonLeaseLapsed, untrusted.Sprintf("its lease ended at %s; after that the hosting session said: %s", pointInTime(b.lease.Until), said)
}

// lapsedBefore reports whether the attempt before a job's present one ended with its lease.
func (r *run) lapsedBefore(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	ended := r.jobs[id].ended
	return len(ended) > 0 && ended[len(ended)-1].Reason == runtime.ReasonLeaseLapsed
}

// late says that a result came after its time, and looks whether what it builds on is
// still the same: then it counts all the same.
func (r *run) late(ctx context.Context, a *attempt, b fromSession, took time.Duration) {
	a.overtime = a.job.Timeout > 0 && took > a.job.Timeout
	if overdue := b.taken && b.lease.Over(b.submission.At); !a.overtime && !overdue {
		return
	}
	a.stale = r.changedUnder(context.WithoutCancel(ctx), a)
	text := "came back late; nothing that it builds on has changed, so it counts"
	if a.overtime {
		text = fmt.Sprintf("came back after its timeout of %s, which is for the account only where the hosting session works; nothing that it builds on has changed, so it counts", a.job.Timeout)
	}
	if a.stale == "" {
		r.note(ledger.Noted(a.job.ID, text))
	}
}

// changedUnder says what an attempt builds on and has changed since it was handed out,
// "" = nothing.
func (r *run) changedUnder(ctx context.Context, a *attempt) string {
	for _, on := range a.job.DependsOn {
		r.mu.Lock()
		s := r.jobs[on].status
		r.mu.Unlock()
		if s == nil || s.Status != ledger.Success {
			return "job " + on + " has to be done again"
		}
	}
	got, err := r.readHanded(ctx, a.job)
	if err != nil {
		return "what it was given cannot be read any more: " + err.Error()
	}
	if givenTo(a.job, got) != a.given {
		return "what it was given (its prompt, the files that it names, or what other jobs left) is not what it was"
	}
	if base, own := r.baseOf(a.job, a.route); own && a.at.tree != nil && a.at.tree.Base != base {
		return fmt.Sprintf("it started from commit %.12s, and would start from %.12s now", a.at.tree.Base, base)
	}
	return ""
}
