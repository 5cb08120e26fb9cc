package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/shellword"
	"orchestrate/internal/supervise"
)

// takeUpInternal goes on with an attempt of the hosting session that an engine before made
// ready: its request is there, so somebody may have it or will. ok is false where it came
// no further than any other attempt that was never started.
func (r *run) takeUpInternal(ctx context.Context, a *attempt) (ok bool, err error) {
	request, there, err := handoff.ReadRequest(r.led, a.job.ID)
	if err != nil || !there || request.N != a.n {
		return false, err
	}
	held, err := r.led.AttemptLock(a.job.ID)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (held.Attempt != a.n || held.Furnished == nil) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r.equipAgain(ctx, a, *held.Furnished)
	a.request, a.alone = &request, false
	if closed, err := r.closedBefore(ctx, a); closed || err != nil {
		return true, err
	}
	r.carried[a.job.ID] = a
	return true, nil
}

// closedBefore ends an attempt of a writer of which an engine before saw to it that nothing
// is taken any more, and died before it could record that.
func (r *run) closedBefore(ctx context.Context, a *attempt) (bool, error) {
	b, err := r.fromSession(a)
	if err != nil || b.submission != nil || !b.taken || !b.lease.Lapsed || !a.job.Writes() {
		return false, err
	}
	r.leftBySession(a, b)
	return true, r.cutOff(ctx, a, "its engine died while it ended it", a.exit.Proof)
}

// dropInternal ends such an attempt that is of no use any more.
func (r *run) dropInternal(ctx context.Context, a *attempt, why string) error {
	b, err := r.closeRequest(ctx, a)
	if err != nil {
		return err
	}
	r.leftBySession(a, b)
	return r.cutOff(ctx, a, why, a.exit.Proof)
}

// stillWrites says of a writer of the session that was cut off, while somebody had it,
// whether its end has been stated since: then its proof is that it is gone.
func (r *run) stillWrites(id string, n int) supervise.Proof {
	proof := supervise.Proof{Level: proofStated, Left: []supervise.Process{}}
	request, there, err := handoff.ReadRequest(r.led, id)
	if err != nil || !there || request.N != n {
		return proof
	}
	_, proof.Gone, err = handoff.ReadSubmission(r.led, id, request.Attempt)
	if err != nil {
		r.note(ledger.Noted(id, r.redact.String(err.Error())))
	}
	return proof
}

// remainsOf ends what is left of a job's newest attempt, and says whether that is proven.
func (r *run) remainsOf(ctx context.Context, id string, pj *pastJob, before *ledger.Proof) supervise.Proof {
	a := r.attemptOf(id, pj)
	proof := r.endRemains(ctx, a)
	if proof.Gone && before.Level == string(proofStated) {
		return r.stillWrites(id, a.n)
	}
	return proof
}

// statedStep is what can be done about a writer of the session whose end nobody stated.
func statedStep(f handoff.Files, run, id string) string {
	attempt := "ID"
	if request, there, err := handoff.ReadRequest(f, id); err == nil && there {
		if _, said, err := handoff.ReadSubmission(f, id, request.Attempt); err == nil && said {
			return fmt.Sprintf("its end has been stated by now: `orchestrate resume %s` gives the job out again", shellword.Quote(run))
		}
		attempt = shellword.Quote(request.Attempt)
	}
	return fmt.Sprintf("when the session's agent works on it no more, say so: `orchestrate submit %s %s --attempt %s --failed \"it has ended\"`, then `orchestrate resume %s`",
		shellword.Quote(run), shellword.Quote(id), attempt, shellword.Quote(run))
}

// stopInternal does it for a run whose spec cannot be read any more; done is false where
// nothing of the attempt was handed out.
func (r *run) stopInternal(ctx context.Context, a *attempt) (done bool, err error) {
	request, there, err := handoff.ReadRequest(r.led, a.job.ID)
	if err != nil || !there || request.N != a.n {
		return false, err
	}
	a.request, a.job.Effect = &request, request.Effect
	return true, r.dropInternal(ctx, a, "the run was stopped")
}

// perhapsOut is the newest attempt before a that somebody of the session took and of which
// nothing ever came back, 0 = there is none.
func (r *run) perhapsOut(a *attempt) (int, error) {
	for n := a.n - 1; n > 0; n-- {
		in := func(name string) string { return ledger.JobPath(a.job.ID, ledger.AttemptDir(n), name) }
		var lease handoff.Lease
		var back handoff.Submission
		taken, err := r.led.ReadJSON(in(ledger.LeaseFile), &lease)
		if err != nil {
			return 0, err
		}
		returned, err := r.led.ReadJSON(in(ledger.SubmissionFile), &back)
		if err != nil {
			return 0, err
		}
		if taken && !returned && lease.Until.After(lease.At) { // else it was closed before anybody took it
			return n, nil
		}
	}
	return 0, nil
}
