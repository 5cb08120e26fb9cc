package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/failpoint"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
)

// judge draws the verdict: layer 1 by the engine, then the arbiter where one is
// needed and can be asked. It leaves verdict.json.
func (r *run) judge(ctx context.Context) ledger.Judgement {
	p := r.plan
	c := arbiter.Case{
		Mode: p.Spec.Arbiter.Mode, WorkerForm: p.Spec.Worker, Rehearsal: p.Rehearsal() || r.stoodIn(), RequireIndependent: p.Spec.Arbiter.RequireIndependent,
		Findings: r.findings(ctx), ChangedJudges: r.changedJudges(), Early: r.early(ctx),
	}
	switch {
	case !p.Arbiter.Needed || c.Early != "":
	case p.Arbiter.Block != nil:
		c.Obstacle = "no arbiter: " + p.Arbiter.Block.Detail
	default:
		r.ask(ctx, &c)
	}
	r.dropArbiter(ctx)
	r.closeReview(ctx)
	j := cleaned(r, arbiter.Judge(c))
	j.RunID, j.At = r.led.ID, r.eng.Now().UTC()
	err := r.led.MkdirAll(ledger.ArbiterJob)
	r.fail(errors.Join(err, r.led.WriteJSON(ledger.JobPath(ledger.ArbiterJob, ledger.VerdictFile), j)))
	failpoint.Hit(failpoint.VerdictThere)
	return j
}

// stoodIn reports whether the stand-in did a job, as its own choice or as a fallback.
func (r *run) stoodIn() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.jobs {
		if j.status != nil && j.status.Rehearsal {
			return true
		}
	}
	return false
}

// changedJudges are the jobs that changed what judges the work.
func (r *run) changedJudges() (all []ledger.ChangedJudge) {
	for _, id := range r.judged() {
		if paths := r.jobs[id].judges; len(paths) > 0 {
			all = append(all, ledger.ChangedJudge{Job: id, Paths: paths})
		}
	}
	return all
}

// findings are layer 1's.
func (r *run) findings(ctx context.Context) []ledger.Finding {
	var all []ledger.Finding
	for i := range r.plan.Jobs {
		j := r.jobs[r.plan.Jobs[i].Job.ID]
		if j.recalled { // what it left was looked at when it was settled
			all = append(all, j.findings...)
			continue
		}
		if j.status == nil { // it never began and is not blocked: queued
			j.facts = &arbiter.JobFacts{Job: j.planned.Job, ID: j.planned.Job.ID, Status: ledger.JobStatus{ID: j.planned.Job.ID, Status: ledger.Queued}}
		}
		r.freshen(ctx, j)
		all = append(all, arbiter.Layer1([]arbiter.JobFacts{*j.facts})...)
	}
	return r.evident(all)
}

// stoppedEarly says that nobody was asked.
const stoppedEarly = "not settled: the run was stopped before it was judged"

// early says why there is nothing to judge, or not yet; "" when there is.
func (r *run) early(ctx context.Context) string {
	succeeded, open := 0, 0
	for i := range r.plan.Jobs {
		switch s := r.jobs[r.plan.Jobs[i].Job.ID].status; {
		case s != nil && (s.Status == ledger.Skipped || r.plan.Jobs[i].Job.Gathers() && s.Status.Settled()): // nobody's work
		case s == nil || !s.Status.Settled() || s.Status == ledger.Interrupted:
			open++
		case s.Status == ledger.Success:
			succeeded++
		}
	}
	switch {
	case open > 0:
		return fmt.Sprintf("not settled: of %d jobs %d were not done to their end", len(r.plan.Jobs), open)
	case ctx.Err() != nil:
		return stoppedEarly
	case succeeded == 0 && !r.plan.Spec.Worker: // which nobody judges anyway
		return "nothing to judge: no job succeeded"
	}
	return ""
}

// ask puts the evidence to the arbiter and looks up what it cites.
func (r *run) ask(ctx context.Context, c *arbiter.Case) {
	r.fail(r.led.Append(ledger.Arbitrating()))
	failpoint.Hit(failpoint.Arbitrating)
	route, block := r.arbiterRoute()
	if block != nil {
		c.Obstacle = fmt.Sprintf("no arbiter: %s: %s", block.Reason, block.Detail)
		r.arbiterNext = block.NextStep
		return
	}
	folder := r.reviewIn(ctx) // first: what it says belongs to the evidence
	q := question{route: route, bundle: r.bundle(c.Findings)}
	q.judged, q.cites = q.bundle.Asked(), cites(q.bundle)
	q = r.put(q, folder)
	c.Judged = q.judged
	if why := r.unaffordable(route); why != "" && !r.answered(q) {
		c.Obstacle, r.unasked = "no arbiter: "+why, why
		r.arbiterNext = "`orchestrate resume " + r.led.ID + "` asks one, with the budget counted anew"
		return
	}
	c.Runtime, c.Model, c.Independence = route.Runtime, route.Model, route.Independence
	answer, first, status := r.answerTo(ctx, q)
	if status.Attempts == 0 {
		c.Early = stoppedEarly
		return
	}
	c.Findings = append(c.Findings, r.evident(arbiter.Layer1([]arbiter.JobFacts{r.arbiterFacts(status)}))...)
	v, problem := arbiter.Parse(answer, c.Judged)
	reader := citeReader{ctx: ctx, run: r, offered: citable(q.bundle), folder: q.folder}
	if changed := arbiter.Softened(first, v, reader); !first.Empty() && problem == nil && len(changed) > 0 {
		c.Unusable = "the repair round changed the judgement, not only its form: " + strings.Join(changed, "; ")
		return
	}
	if status.ObservedModel != "" {
		c.Model = status.ObservedModel
	}
	if status.Status != ledger.Success || problem != nil {
		c.Unusable = fmt.Sprintf("the arbiter's own run %s: %s: %s", status.Status, status.Reason, status.ReasonEvidence)
		return
	}
	c.Answer, c.Jobs, c.Own = &v, arbiter.Verify(v, reader), reader.own
}

// arbiterFacts holds the arbiter itself to layer 1. That it failed makes its
// answer unusable, which is no broken rule.
func (r *run) arbiterFacts(status ledger.JobStatus) arbiter.JobFacts {
	status.Status, status.Reason = ledger.Success, ""
	return arbiter.JobFacts{
		ID: ledger.ArbiterJob, Status: status, CapabilityFloor: string(policy.C3), RiskFloor: string(policy.R0),
		Probed: r.probedHere(status.Runtime), Observed: r.arbiterWrote,
	}
}

// judged are the jobs that ran.
func (r *run) judged() (ids []string) {
	for i := range r.plan.Jobs {
		j := r.jobs[r.plan.Jobs[i].Job.ID]
		if j.status != nil && j.status.Attempts > 0 {
			ids = append(ids, j.planned.Job.ID)
		}
	}
	return ids
}
