package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/failpoint"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// judge draws the verdict: layer 1 by the engine, then the arbiter where one is
// needed and can be asked. It leaves verdict.json.
func (r *run) judge(ctx context.Context) ledger.Judgement {
	p := r.plan
	c := arbiter.Case{
		Mode: p.Spec.Arbiter.Mode, Rehearsal: p.Rehearsal() || r.stoodIn(), RequireIndependent: p.Spec.Arbiter.RequireIndependent,
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
			j.facts = arbiter.JobFacts{Job: j.planned.Job, ID: j.planned.Job.ID, Status: ledger.JobStatus{ID: j.planned.Job.ID, Status: ledger.Queued}}
		}
		r.freshen(ctx, j)
		all = append(all, arbiter.Layer1([]arbiter.JobFacts{j.facts})...)
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
	case succeeded == 0:
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
	q := question{route: route, bundle: r.bundle(c.Findings)}
	q.judged, q.cites = q.bundle.Asked(), cites(q.bundle)
	q = r.put(q, r.reviewIn(ctx))
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

// answered reports whether the question needs no new attempt: an engine before asked it.
func (r *run) answered(q question) bool {
	return r.carried[ledger.ArbiterJob] != nil || r.kept != nil && bytes.Equal(r.kept.evidence, q.compared)
}

// citable is all that the evidence offers for citation beside lines of files.
func citable(b arbiter.Bundle) map[arbiter.Citation]bool {
	all := map[arbiter.Citation]bool{}
	for _, e := range b.Jobs {
		for _, c := range e.Citable() {
			all[c] = true
		}
	}
	return all
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

// cites names, for each job, something that is there to be cited.
func cites(b arbiter.Bundle) (all []string) {
	for _, e := range b.Jobs {
		cite := e.Job.ID
		if c := e.Citable(); len(c) > 0 {
			cite += "=" + c[0].Kind + ":" + c[0].Ref
		}
		all = append(all, cite)
	}
	return all
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
			r.led.WriteJSON(ledger.JobPath(a.job.ID, ledger.SessionFile), sessionOf(a, status)),
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

// bundle collects what the arbiter is shown.
func (r *run) bundle(findings []ledger.Finding) arbiter.Bundle {
	s := r.plan.Spec
	b := arbiter.Bundle{
		RunID: r.led.ID, Base: r.plan.Base, Outcome: s.Outcome, Constraints: s.Constraints,
		NonGoals: s.NonGoals, Acceptance: s.Acceptance, Findings: findings, Notes: r.outside,
		MaxBytes: s.Arbiter.MaxEvidenceBytes,
	}
	for _, id := range r.judged() {
		b.Jobs = append(b.Jobs, r.evidenceOf(r.jobs[id]))
	}
	return b
}

func (r *run) evidenceOf(j *jobRun) arbiter.JobEvidence {
	id := j.planned.Job.ID
	e := arbiter.JobEvidence{
		Job: j.planned.Job, Status: *j.status, Probed: j.facts.Probed, Commit: r.saw(j), Judges: j.judges,
		Word: r.approvedBy(id),
	}
	add := func(label, name, cite string) {
		if t, ok := r.text(label, ledger.JobPath(id, name), cite); ok {
			e.Texts = append(e.Texts, t)
		}
	}
	if !j.planned.Job.Exec() {
		add("Prompt", ledger.PromptFile, "")
	}
	add("Final answer", ledger.OutputFile, ledger.OutputFile)
	if t, ok := r.text("Patch", ledger.JobPath(id, ledger.PatchFile), ledger.PatchFile); ok {
		if sum, ok := r.text("", ledger.JobPath(id, ledger.DiffstatFile), ""); ok {
			t.Summary = sum.Text
		}
		e.Texts = append(e.Texts, t)
	}
	for _, a := range j.status.Artifacts {
		if a.Source != "tree" { // what is in the tree is in the patch
			add("Output "+a.Path, ledger.ArtifactsDir+"/"+a.Path, a.Path)
		}
	}
	for i, c := range j.status.Checks {
		if c.Kind == "run" && c.Output != "" {
			name := fmt.Sprintf("%s/%d.out", ledger.ChecksDir, i+1)
			add("Output of check "+c.Name, name, name)
		}
	}
	return e
}

// text reads the beginning of a file of the run directory.
func (r *run) text(label, rel, cite string) (arbiter.Text, bool) {
	data, err := r.led.ReadFile(rel)
	if err != nil {
		return arbiter.Text{}, false
	}
	t := arbiter.Text{Label: label, Ref: rel, Cite: cite, Bytes: int64(len(data))}
	t.Text = untrusted.From(string(data[:min(len(data), max(arbiter.Budget, r.plan.Spec.Arbiter.MaxEvidenceBytes))]))
	return t, true
}
