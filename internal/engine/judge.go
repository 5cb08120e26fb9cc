package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// judge draws the verdict: layer 1 by the engine, then the arbiter where one is
// needed and can be asked. It leaves verdict.json.
func (r *run) judge(ctx context.Context) ledger.Judgement {
	p := r.plan
	c := arbiter.Case{Mode: p.Spec.Arbiter.Mode, Rehearsal: p.Rehearsal(), Findings: r.findings(), Early: r.early(ctx)}
	switch {
	case !p.Arbiter.Needed || c.Early != "":
	case p.Arbiter.Block != nil:
		c.Obstacle = "no arbiter: " + p.Arbiter.Block.Detail
	default:
		r.ask(ctx, &c)
	}
	j := cleaned(r, arbiter.Judge(c))
	j.RunID, j.At = r.led.ID, r.eng.Now().UTC()
	err := r.led.MkdirAll(ledger.ArbiterJob)
	r.fail(errors.Join(err, r.led.WriteJSON(ledger.JobPath(ledger.ArbiterJob, ledger.VerdictFile), j)))
	return j
}

// findings are layer 1's.
func (r *run) findings() []ledger.Finding {
	var facts []arbiter.JobFacts
	for i := range r.plan.Jobs {
		j := r.jobs[r.plan.Jobs[i].Job.ID]
		if j.status == nil { // it never began and is not blocked: queued
			j.facts = arbiter.JobFacts{Job: j.planned.Job, ID: j.planned.Job.ID, Status: ledger.JobStatus{ID: j.planned.Job.ID, Status: ledger.Queued}}
		}
		facts = append(facts, j.facts)
	}
	return arbiter.Layer1(facts)
}

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
	case ctx.Err() != nil || open > 0:
		return fmt.Sprintf("not settled: %d jobs have not ended", open)
	case succeeded == 0:
		return "nothing to judge: no job succeeded"
	}
	return ""
}

// ask puts the evidence to the arbiter and looks up what it cites.
func (r *run) ask(ctx context.Context, c *arbiter.Case) {
	r.fail(r.led.Append(ledger.Arbitrating()))
	route, block := r.arbiterRoute()
	if block != nil {
		c.Obstacle = fmt.Sprintf("no arbiter: %s: %s", block.Reason, block.Detail)
		r.arbiterNext = block.NextStep
		return
	}
	c.Judged = r.judged()
	bundle := r.bundle(c.Findings)
	q := question{route: route, evidence: r.redact.Bytes(arbiter.Evidence(bundle)), judged: c.Judged, cites: cites(bundle)}
	if !r.affordable() {
		c.Obstacle = "no arbiter: the budget is used up"
		r.arbiterNext = "raise the budget in the spec" + again
		return
	}
	c.Runtime, c.Model, c.Independence = route.Runtime, route.Model, route.Independence
	answer, first, status := r.question(ctx, q)
	c.Findings = append(c.Findings, arbiter.Layer1([]arbiter.JobFacts{r.arbiterFacts(status)})...)
	v, problem := arbiter.Parse(answer, c.Judged)
	if changed := arbiter.Softened(first, v); first != "" && problem == nil && len(changed) > 0 {
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
	c.Answer, c.Jobs = &v, arbiter.Verify(v, citeReader{ctx, r, citable(bundle)})
}

// affordable reports whether the budget allows another attempt.
func (r *run) affordable() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spent.within(r.plan.Spec.Budget)
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
	evidence []byte
	judged   []string
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

// question asks until there is an answer or nothing more to be had: once more for
// the form only, and once more when the service was too busy to begin. first is the
// answer whose form was wrong, "" if none was.
func (r *run) question(ctx context.Context, q question) (answer, first string, status ledger.JobStatus) {
	prompt := arbiter.Prompt(q.evidence)
	asked := prompt
	for n := 1; ; n++ {
		var next turn
		answer, status, next = r.arbitrate(ctx, n, asked, q, first == "")
		switch {
		case next.repair != nil:
			r.tell("the arbiter was asked again, because its answer had not the form asked for")
			first, asked = answer, arbiter.RepairPrompt(prompt, answer, next.repair)
		case next.after > 0:
			r.tell(fmt.Sprintf("the arbiter was asked again after %s: %s", next.after, status.Reason))
			select {
			case <-time.After(next.after):
			case <-ctx.Done():
			}
		default:
			return answer, first, status
		}
	}
}

// turn is what follows from an attempt of the arbiter: nothing, the same question
// for the form (what was wrong with it), or the same question later.
type turn struct {
	repair error
	after  time.Duration
}

// next decides about another attempt. mayRepair is false in the repair round.
func (r *run) next(ctx context.Context, a *attempt, how policy.Settlement, problem error, mayRepair bool) turn {
	if ctx.Err() != nil || !r.affordable() {
		return turn{}
	}
	if how.Reason == runtime.BlockedNoAnswer {
		if mayRepair {
			return turn{repair: problem}
		}
		return turn{}
	}
	if how.Status != ledger.Failed {
		return turn{}
	}
	o := a.exit.Outcome
	d := policy.Decide(how.Reason, policy.Attempt{
		Tries: a.n, WorkBegun: o.WorkBegun, RetryAfter: time.Duration(o.RetryAfterMs) * time.Millisecond,
		TreeGone: a.exit.Proof.Gone || a.neverRan(),
	})
	if !d.Retry {
		return turn{}
	}
	return turn{after: cmp.Or(d.After, spec.DefaultBackoff)}
}

// arbitrate carries out one attempt of the arbiter; it has a directory like a
// job, and its records.
func (r *run) arbitrate(ctx context.Context, n int, prompt string, q question, mayRepair bool) (string, ledger.JobStatus, turn) {
	a := &attempt{job: r.plan.Arbiter.Job, n: n, route: q.route, begun: r.eng.Now(), prompt: prompt, judged: q.cites}
	a.at = place{dir: r.plan.Root, top: r.plan.Root}
	r.fail(r.led.Append(ledger.Intent(a.job.ID, n, a.route)))
	how, err := r.arbiterAttempt(ctx, a, q.evidence)
	if err != nil {
		how = policy.Settlement{Status: ledger.Failed, Reason: runtime.ReasonSpawn, Evidence: err.Error()}
	}
	answer := a.exit.Outcome.Answer
	_, problem := arbiter.Parse(answer, q.judged)
	if how.Status == ledger.Success && problem != nil {
		how = policy.Settlement{Status: ledger.Failed, Reason: runtime.BlockedNoAnswer, Evidence: "its answer has not the form asked for: " + problem.Error()}
	}
	status := r.statusOf(a)
	status.Status, status.Reason, status.ReasonEvidence = how.Status, how.Reason, how.Evidence
	status = cleaned(r, status)
	r.mu.Lock()
	r.spent.add(a.exit.Outcome.Usage, false)
	r.mu.Unlock()
	next := r.next(ctx, a, how, problem, mayRepair)
	record := ledger.Settle(status)
	if next != (turn{}) {
		record = ledger.AttemptEnded(status)
	}
	r.fail(errors.Join(
		r.led.WriteJSON(ledger.JobPath(a.job.ID, ledger.StatusFile), status),
		r.led.WriteJSON(ledger.JobPath(a.job.ID, ledger.SessionFile), sessionOf(a, status)),
		r.led.Append(record),
	))
	r.arbiters, r.arbiterWrote = append(r.arbiters, status), append(r.arbiterWrote, a.changed...)
	return answer, status, next
}

func (r *run) arbiterAttempt(ctx context.Context, a *attempt, evidence []byte) (policy.Settlement, error) {
	dir, lock, err := r.led.BeginAttempt(a.job.ID, a.n)
	if err != nil {
		return policy.Settlement{}, err
	}
	a.dir = dir
	err = errors.Join(
		r.led.MkdirAll(ledger.JobPath(a.job.ID, ledger.ArtifactsDir)),
		r.led.WriteFile(ledger.JobPath(a.job.ID, ledger.EvidenceFile), evidence),
		r.equip(a, r.led.Dir),
	)
	if err != nil {
		return policy.Settlement{}, errors.Join(err, lock.Close())
	}
	mine := r.enter(ctx, a)
	defer r.leave()
	if err := r.carryOut(ctx, 0, a, lock); err != nil {
		return policy.Settlement{}, err
	}
	a.changed = r.changedBy(ctx, a, mine)
	s := settlement{facts: policy.Facts{
		Exit: a.exit, Lost: a.lost, Pin: a.route.Model, Models: r.profile(a.route.Runtime).Models, Budget: r.budgetThatEnded(),
		Unproven: !a.exit.Proof.Gone,
	}}
	if err := r.keepAnswer(a, &s); err != nil {
		return policy.Settlement{}, err
	}
	return policy.Classify(s.facts), nil
}

// bundle collects what the arbiter is shown.
func (r *run) bundle(findings []ledger.Finding) arbiter.Bundle {
	s := r.plan.Spec
	b := arbiter.Bundle{
		RunID: r.led.ID, Base: r.plan.Base, Outcome: s.Outcome, Constraints: s.Constraints,
		NonGoals: s.NonGoals, Acceptance: s.Acceptance, Findings: findings, Notes: r.outside,
	}
	for _, id := range r.judged() {
		b.Jobs = append(b.Jobs, r.evidenceOf(r.jobs[id]))
	}
	return b
}

func (r *run) evidenceOf(j *jobRun) arbiter.JobEvidence {
	id := j.planned.Job.ID
	e := arbiter.JobEvidence{
		Job: j.planned.Job, Status: *j.status, Probed: j.facts.Probed, Commit: j.commit, Judges: j.judges,
	}
	if e.Commit == "" {
		e.Commit = r.plan.Base
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
	add("Patch", ledger.PatchFile, ledger.PatchFile)
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
	t.Text = string(data[:min(len(data), arbiter.Budget)])
	return t, true
}
