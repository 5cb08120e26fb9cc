package engine

import (
	"context"
	"fmt"
	"path"
	"strings"

	"orchestrate/internal/check"
	"orchestrate/internal/ledger"
	"orchestrate/internal/planner"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/shellword"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// draftCheck is the check that the engine makes of a planner's answer.
const draftCheck = "the spec is valid"

// draftFile is the path, from the run directory, of something that a planner left.
func draftFile(name string) string { return path.Join(ledger.DraftDir, name) }

// requestText is a request as a text from outside: a person may have pasted it.
func requestText(words string) untrusted.Text { return untrusted.From(words) }

// draftProfiles are the runtimes that a planner is told of: the hosting session's agents
// too, to which its own job never goes.
func (r *run) draftProfiles() (all []runtime.Profile) {
	for _, p := range r.plan.Inventory.Profiles {
		all = append(all, r.profile(p.Runtime))
	}
	if req := r.plan.draft.req; req.Internal || req.Agents != nil {
		all = append(all, policy.Judged(req.Agents.Profile(r.eng.Now()), r.eng.Operator))
	}
	return all
}

// judgeDraft holds a planner's answer against all that a spec is held against, as a check
// of its job, and keeps what holds.
func (r *run) judgeDraft(ctx context.Context, a *attempt, s *settlement) error {
	d := r.plan.draft
	if d == nil || policy.Classify(s.facts).Status != ledger.Success {
		return nil
	}
	answer, parsed := planner.Parse(s.facts.Answer)
	answer.Spec = r.redact.String(answer.Spec)
	var problems []untrusted.Text
	switch {
	case parsed != nil:
		problems = []untrusted.Text{untrusted.From(parsed.Error())}
	case answer.Spec != "":
		errs, err := r.eng.readDraft(ctx, d.req, r.led.Path(draftFile(ledger.SpecFile)), []byte(answer.Spec))
		if ctx.Err() != nil {
			s.facts.ChecksCut = true
			return nil
		}
		if err != nil {
			return err
		}
		problems = problemsOf(errs, answer.Spec)
	}
	if d.before = nil; len(problems) > 0 {
		d.before = &planner.Before{Answer: s.facts.Answer, Problems: untrusted.Join(problems, "\n")}
		s.facts.FailedChecks = append(s.facts.FailedChecks, fmt.Sprintf("%s: %s: %s", draftCheck, check.Failed, summary(problems)))
	}
	if err := r.keepDraftCheck(a, s, problems); err != nil {
		return err
	}
	return r.keepDraft(a, answer, problems)
}

// summary is the first of some problems, for the one line that says why an attempt failed.
func summary(problems []untrusted.Text) string {
	first := problems[0].Line(300)
	if n := len(problems) - 1; n > 0 {
		first += fmt.Sprintf(" (and %d more)", n)
	}
	return first
}

// problemsOf tells mistakes with the lines that they are on; the file is the planner's own.
func problemsOf(errs []spec.Diagnostic, source string) (all []untrusted.Text) {
	for _, d := range errs {
		d.Pos.File = ledger.SpecFile
		all = append(all, untrusted.From(strings.TrimRight(spec.Format([]spec.Diagnostic{d}, []byte(source)), "\n")))
	}
	return all
}

// readDraft reads a planner's spec as it would be read to be run. Beside what any spec is
// held against, it stays in the workspace that was told of, and does nothing outside that
// it does not say.
func (e *Engine) readDraft(ctx context.Context, req DraftRequest, path string, source []byte) ([]spec.Diagnostic, error) {
	p := &Plan{Request: Request{Spec: path, Cwd: req.Cwd, Internal: req.Internal, Agents: req.Agents}, source: source}
	if err := p.locate(ctx); err != nil {
		return nil, err
	}
	root := p.Root
	var err error
	if p.house, err = readRepository(root); err != nil {
		return nil, fmt.Errorf("%s: %w", spec.RepositoryFile, err)
	}
	errs, err := p.readAll(ctx, e)
	if err != nil || len(errs) > 0 {
		return errs, err
	}
	return p.overreaches(root), nil
}

// overreaches is what a spec may say that a person wrote, and a planner's may not.
func (p *Plan) overreaches(root string) (errs []spec.Diagnostic) {
	for _, w := range p.Spec.Warning {
		if w.Rule == "hazard" {
			errs = append(errs, w)
		}
	}
	top := spec.Position{File: p.Spec.Path, Line: 1, Col: 1}
	if roots := p.Spec.WorkspaceRoots; len(roots) != 1 || roots[0] != root {
		errs = append(errs, spec.Diagnostic{Pos: top, Field: "workspace_roots", Rule: "workspace", Message: "the work is for the workspace that you were told of; leave workspace_roots out"})
	}
	for i := range p.Spec.Jobs {
		if j := &p.Spec.Jobs[i]; j.Runtime == runtimeStandin {
			errs = append(errs, spec.Diagnostic{Pos: j.Pos, Field: fmt.Sprintf("jobs[%d].runtime", i), Rule: "runtime", Message: "the stand-in does no work; leave runtime out"})
		}
	}
	return errs
}

// keepDraftCheck leaves the engine's own check of the answer where checks are.
func (r *run) keepDraftCheck(a *attempt, s *settlement, problems []untrusted.Text) error {
	code := 0
	c := ledger.Check{
		Name: draftCheck, Kind: "run", Command: "orchestrate plan " + draftFile(ledger.SpecFile), Status: check.Passed,
		ExitCode: &code, Output: ledger.CheckPath(a.job.ID, 1, "out"),
	}
	if len(problems) > 0 {
		code, c.Status = ExitUsage, check.Failed
	}
	s.checks = append(s.checks, c)
	if err := r.led.MkdirAll(ledger.JobPath(a.job.ID, ledger.ChecksDir)); err != nil {
		return err
	}
	if err := r.led.WriteText(c.Output, untrusted.Join(problems, "\n")); err != nil {
		return err
	}
	return r.led.WriteJSON(ledger.CheckPath(a.job.ID, 1, "json"), ledger.CheckResult{SchemaVersion: ledger.SchemaVersion, Check: c})
}

// keepDraft leaves what the planner came to. draft.json comes first: a spec.yaml of a
// planner is never without its mark.
func (r *run) keepDraft(a *attempt, answer planner.Answer, problems []untrusted.Text) error {
	doc := &r.plan.draft.doc
	doc.Runtime, doc.Model = a.route.Runtime, a.route.Model
	if seen := a.exit.Outcome.ObservedModel; seen != "" {
		doc.Model = seen
	}
	doc.Rounds = append(doc.Rounds, ledger.DraftRound{Attempt: a.n, Problems: append([]untrusted.Text{}, problems...)})
	doc.Outcome = ledger.DraftedInvalid
	switch {
	case len(problems) > 0:
	case answer.Spec == "":
		doc.Outcome, doc.Why = ledger.DraftedNone, answer.None
	default:
		doc.Outcome, doc.SpecDigest = ledger.DraftedSpec, digest([]byte(answer.Spec))
	}
	if err := r.led.WriteJSON(draftFile(ledger.DraftFile), doc); err != nil || doc.Outcome != ledger.DraftedSpec {
		return err
	}
	if err := r.led.WriteFile(draftFile(ledger.SpecFile), []byte(answer.Spec)); err != nil {
		return err
	}
	spec := shellword.Quote(relTo(r.plan.Root, r.led.Path(draftFile(ledger.SpecFile))))
	r.tell(fmt.Sprintf("the spec that the planner made is kept; from the workspace root `orchestrate plan %s` shows it, `orchestrate run %s` runs it", spec, spec))
	return nil
}

// draftsAgain reports whether a planner is told what was wrong with its answer.
func (r *run) draftsAgain(status ledger.JobStatus) bool {
	d := r.plan.draft
	return d != nil && d.before != nil && status.Reason == runtime.ReasonCheckFailed && len(d.doc.Rounds) <= repairs
}

// draftStep is what a person can do about a planner that failed: its run is not gone on
// with, the request is given again.
func (t trouble) draftStep() string {
	const anew = ", then give the request again"
	if t.status.Reason == runtime.ReasonCheckFailed {
		return "say the request in other words, or write the spec yourself (`orchestrate init` leaves a first one); " + t.file(ledger.OutputFile) + " is the last answer"
	}
	return strings.NewReplacer(t.then(), anew, again, anew, t.resume(), "the request, given again,").Replace(t.step())
}
