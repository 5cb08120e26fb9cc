package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// The arbiter is asked as a job is carried out: in attempts, each with its directory and
// its records, until there is an answer or nothing more to be had.

// answered reports whether the question needs no new attempt: an engine before asked it.
func (r *run) answered(q question) bool {
	return r.carried[ledger.ArbiterJob] != nil || r.kept != nil && bytes.Equal(r.kept.evidence, q.compared)
}

// question is what the arbiter is asked about, whatever the words.
type question struct {
	route    ledger.Route
	bundle   arbiter.Bundle
	folder   string // of the arbiter's tree, for what the jobs left; "" = it has no tree
	evidence []byte
	compared []byte // with what an arbiter before was shown: the evidence without what was told since
	judged   []arbiter.Asked
	cites    []string // for the stand-in: what it may cite of each judged job
}

// answerTo is what an arbiter before said to exactly this evidence, or the answer to
// asking now.
func (r *run) answerTo(ctx context.Context, q question) (answer, first untrusted.Text, status ledger.JobStatus) {
	if k := r.kept; k != nil && bytes.Equal(k.evidence, q.compared) {
		r.note(ledger.Noted("", "nothing that the arbiter reviewed has changed, so its answer stands"))
		return untrusted.From(k.answer), untrusted.Text{}, k.status
	}
	if a := r.led.State().Arbiter; a != nil && a.Status.Settled() {
		r.fail(r.led.Append(ledger.Requeued(ledger.ArbiterJob, "what it reviewed has changed, or it gave no answer that counts")))
		r.arbiterFailed = 0
	}
	return r.question(ctx, q)
}

// question asks until there is an answer or nothing more to be had: once more for
// the form only, once more when the service was too busy to begin, and once more when
// the arbiter was cut off. first is the answer whose form was wrong, "" if none was.
func (r *run) question(ctx context.Context, q question) (answer, first untrusted.Text, status ledger.JobStatus) {
	var problem error
	for a := r.arbiterUnderWay(ctx, q); ; a = nil {
		if a == nil {
			if q = r.openReview(ctx, q); ctx.Err() != nil && status.Attempts == 0 {
				return answer, first, status
			}
			asked := arbiter.Prompt(q.evidence)
			if problem != nil {
				asked = arbiter.RepairPrompt(asked, first, problem)
			}
			a = &attempt{job: r.plan.Arbiter.Job, n: r.attempts[ledger.ArbiterJob] + 1, route: r.withForm(q.route), begun: r.eng.Now(), prompt: asked, judged: q.cites}
			a.at = r.reviewPlace()
			r.awaitPause(ctx, a.route.Runtime)
		}
		var next turn
		answer, status, next = r.arbitrate(ctx, a, q, first.Empty())
		switch {
		case next.repair != nil:
			r.tell("the arbiter was asked again, because its answer had not the form asked for")
			first, problem = answer, next.repair
		case next.after > 0:
			r.tell(fmt.Sprintf("the arbiter was asked again after %s: %s", next.after, status.Reason))
			select {
			case <-time.After(next.after):
			case <-ctx.Done():
			}
		case next.cutOff:
			r.note(ledger.Noted("", "the arbiter was asked again, because its attempt was cut off"))
		default:
			return answer, first, status
		}
	}
}

// arbiterUnderWay is the attempt of the arbiter that an engine before began, if it
// was asked exactly this. Any other is ended.
func (r *run) arbiterUnderWay(ctx context.Context, q question) *attempt {
	a := r.carried[ledger.ArbiterJob]
	if a == nil {
		return nil
	}
	shown, err := r.led.ReadFile(ledger.JobPath(ledger.ArbiterJob, ledger.EvidenceFile))
	if err != nil || !bytes.Equal(shown, q.compared) || len(r.arbiters) > 0 && r.arbiters[len(r.arbiters)-1].Reason == runtime.BlockedNoAnswer {
		r.dropArbiter(ctx)
		return nil
	}
	delete(r.carried, ledger.ArbiterJob)
	r.takeReview(a)
	return a
}

// dropArbiter ends an attempt of the arbiter that an engine before began and that
// nobody needs any more.
func (r *run) dropArbiter(ctx context.Context) {
	a := r.carried[ledger.ArbiterJob]
	if a == nil {
		return
	}
	why := "what it reviewed has changed"
	if r.stopping {
		why = "the run was stopped"
	}
	r.fail(r.drop(ctx, a, why))
}

// turn is what follows from an attempt of the arbiter: nothing, the same question
// for the form (what was wrong with it), or the same question later or at once.
type turn struct {
	repair error
	after  time.Duration
	cutOff bool
}

// next decides about another attempt. mayRepair is false in the repair round.
func (r *run) next(ctx context.Context, a *attempt, how policy.Settlement, problem error, mayRepair bool) turn {
	if ctx.Err() != nil || r.unaffordable(a.route) != "" {
		return turn{}
	}
	if how.Reason == runtime.BlockedNoAnswer {
		if mayRepair {
			return turn{repair: problem}
		}
		return turn{}
	}
	if how.Reason == runtime.ReasonCutOff || how.Status == ledger.Interrupted && a.taken {
		r.arbiterCut++
		return turn{cutOff: r.arbiterCut == 1}
	}
	if how.Status != ledger.Failed {
		return turn{}
	}
	o := a.exit.Outcome
	r.arbiterFailed++
	d := policy.Decide(how.Reason, policy.Attempt{
		Tries: r.arbiterFailed, WorkBegun: o.WorkBegun, RetryAfter: r.statedWait(how.Reason, a),
		TreeGone: a.exit.Proof.Gone || a.neverRan(),
	})
	if !d.Retry {
		return turn{}
	}
	return turn{after: cmp.Or(d.After, spec.DefaultBackoff)}
}

// arbitrate carries out one attempt of the arbiter; it has a directory like a
// job, and its records.
func (r *run) arbitrate(ctx context.Context, a *attempt, q question, mayRepair bool) (untrusted.Text, ledger.JobStatus, turn) {
	defer a.release()
	if !a.taken {
		r.fail(r.led.Append(ledger.Intent(a.job.ID, a.n, a.route)))
		r.attempts[a.job.ID] = a.n
	}
	r.mu.Lock()
	r.spent.reserve(a.job.ID, sourceOf(a.job, a.route))
	r.mu.Unlock()
	how, s, err := r.arbiterAttempt(ctx, a, q.evidence)
	if err != nil {
		how = policy.Settlement{Status: ledger.Failed, Reason: runtime.ReasonSpawn, Evidence: untrusted.From(err.Error())}
	}
	answer := a.exit.Outcome.Answer
	_, problem := arbiter.Parse(answer, q.judged)
	if how.Status == ledger.Success && problem != nil {
		how = policy.Settlement{Status: ledger.Failed, Reason: runtime.BlockedNoAnswer, Evidence: untrusted.From("its answer has not the form asked for: " + problem.Error())}
	}
	status := r.statusOf(a)
	status.Status, status.Reason, status.ReasonEvidence = how.Status, how.Reason, how.Evidence
	status = cleaned(r, status)
	r.mu.Lock()
	r.spent.settle(a.job.ID, sourceThen(status), status.Usage)
	r.mu.Unlock()
	next := r.next(ctx, a, how, problem, mayRepair)
	record := ledger.Settle(status)
	if next != (turn{}) {
		record = ledger.AttemptEnded(status)
	}
	record.Work = r.workOf(a, &s)
	record.Work.Shared = a.changed
	err = r.led.Append(record)
	if err == nil && a.dir != "" {
		err = errors.Join(
			r.led.WriteJSON(ledger.JobPath(a.job.ID, ledger.StatusFile), status),
			r.led.WriteJSON(ledger.JobPath(a.job.ID, ledger.SessionFile), sessionOf(a, status, nil)),
		)
	}
	r.fail(err)
	r.arbiters, r.arbiterWrote = append(r.arbiters, status), append(r.arbiterWrote, a.changed...)
	return answer, status, next
}

func (r *run) arbiterAttempt(ctx context.Context, a *attempt, evidence []byte) (policy.Settlement, settlement, error) {
	defer r.dropPrivate(a)
	if !a.taken {
		if err := r.prepareArbiter(a, evidence); err != nil {
			return policy.Settlement{}, settlement{}, err
		}
	}
	mine := r.enter(ctx, a)
	defer r.leave()
	var err error
	if a.taken {
		err = r.adopt(ctx, a)
	} else {
		err = r.carryOut(ctx, 0, a)
	}
	if err != nil {
		return policy.Settlement{}, settlement{}, err
	}
	a.changed = append(r.changedBy(ctx, a, mine), r.wroteReview(ctx, a)...)
	s := settlement{facts: policy.Facts{
		Exit: a.exit, Lost: a.lost, Pin: a.route.Model, Models: r.profile(a.route.Runtime).Models, Budget: r.budgetThatEnded(),
		Unproven: !a.exit.Proof.Gone,
	}}
	if err := r.keepAnswer(a, &s); err != nil {
		return policy.Settlement{}, s, err
	}
	return policy.Classify(s.facts), s, nil
}

// withForm is the arbiter's route on a runtime that, if it can, holds it to the form of its
// answer.
func (r *run) withForm(route ledger.Route) ledger.Route {
	if r.profile(route.Runtime).Has(runtime.ControlAnswerForm) {
		route.Controls = append(slices.Clone(route.Controls), string(runtime.ControlAnswerForm))
	}
	return route
}

// formed reports whether an attempt is the arbiter's and is held to that form.
func (r *run) formed(a *attempt) bool {
	return r.isArbiter(a) && slices.Contains(a.route.Controls, string(runtime.ControlAnswerForm))
}

// leaveForm leaves that form for a program that reads it from a file.
func (r *run) leaveForm(a *attempt) error {
	if !r.formed(a) {
		return nil
	}
	return r.led.WriteFile(ledger.JobPath(a.job.ID, ledger.AnswerSchemaFile), arbiter.AnswerSchema())
}

func (r *run) holdToForm(a *attempt, req *runtime.Request) {
	if r.formed(a) {
		req.AnswerSchema = arbiter.AnswerSchema()
		req.AnswerSchemaAt = r.led.Path(ledger.ArbiterJob, ledger.AnswerSchemaFile)
	}
}

// prepareArbiter is prepare for the arbiter, whose prompt is made already.
func (r *run) prepareArbiter(a *attempt, evidence []byte) (err error) {
	if a.dir, a.lock, err = r.led.BeginAttempt(a.job.ID, a.n); err != nil {
		return err
	}
	if r.review != nil {
		a.before = r.review.sum
	}
	return errors.Join(
		r.led.MkdirAll(ledger.JobPath(a.job.ID, ledger.ArtifactsDir)),
		r.led.WriteFile(ledger.JobPath(a.job.ID, ledger.EvidenceFile), evidence),
		r.leaveForm(a),
		r.equip(a, r.led.Dir),
		r.led.Furnish(a.job.ID, a.lock, a.furnished()),
	)
}
