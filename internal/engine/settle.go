package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"orchestrate/internal/check"
	"orchestrate/internal/failpoint"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
	"orchestrate/internal/workspace"
)

// settlement is what the engine itself finds after an attempt's tree is gone.
type settlement struct {
	facts policy.Facts
	patch *workspace.Patch
	// displayOnly says that something of the patch was left out on disk: it can be
	// read, not applied.
	displayOnly bool
	artifacts   []ledger.Artifact
	checks      []ledger.Check
	beside      []string // what its checks made in the shared checkout, as was told
	problems    []check.Problem
}

// settle looks at what an attempt left, in the order of the contract: the tree is
// idle, the patch is taken, the checks run, ownership is judged, outputs are
// hashed. It works on after the person has interrupted the run, so that what was
// done is kept; only the checks are then left out.
func (r *run) settle(ctx context.Context, slot int, a *attempt, changed []string) (settlement, policy.Settlement, error) {
	s := settlement{facts: policy.Facts{
		Exit: a.exit, Exec: a.job.Exec(), Session: a.internal(), Stale: a.stale, Lost: a.lost, Pin: a.route.Model, Models: r.profile(a.route.Runtime).Models,
		Resumed: r.keptSession(a), Budget: r.budgetThatEnded(), Unproven: !a.exit.Proof.Gone, InjectedSecret: slices.Clone(a.injected),
	}}
	held := len(a.injected)
	for _, name := range changed {
		if a.job.Writes() {
			name += ofCheckout
		}
		s.blame(a, []string{name})
	}
	calm := context.WithoutCancel(ctx)
	if err := r.keepAnswer(a, &s); err != nil {
		return s, policy.Settlement{}, err
	}
	s.facts.Stderr = r.complaint(a)
	if a.exit.Proof.Gone {
		if err := r.inspectTree(calm, a, &s); err != nil {
			return s, policy.Settlement{}, err
		}
		s.blame(a, r.trespasses(calm, a, s.patch))
		if policy.Classify(s.facts).Status == ledger.Success {
			a.unchecked = r.checkEnv(a)
			if err := r.runChecks(ctx, slot, a, &s); err != nil {
				r.note(ledger.Noted(a.job.ID, r.redact.String(err.Error())))
			}
			failpoint.Hit(failpoint.Checked)
			if err := r.inspectChecked(calm, a, &s); err != nil {
				return s, policy.Settlement{}, err
			}
			if err := r.relink(a); err != nil {
				return s, policy.Settlement{}, err
			}
			if err := r.scrubArtifacts(a); err != nil { // checks write there too
				return s, policy.Settlement{}, err
			}
			s.facts.InjectedSecret = append(s.facts.InjectedSecret, a.injected[held:]...)
		}
		r.hashOutputs(a, &s)
	}
	if err := r.judgeDraft(ctx, a, &s); err != nil {
		return s, policy.Settlement{}, err
	}
	how := r.judgeAnswer(a, policy.Classify(s.facts))
	if len(a.injected) > 0 && how.Reason != runtime.ReasonInjectedSecret {
		r.tell(fmt.Sprintf("job %s, attempt %d: it left a secret, which was redacted: %s", a.job.ID, a.n, some(a.injected)))
	}
	return s, how, nil
}

// blame holds changes against an attempt that had no business with them.
func (s *settlement) blame(a *attempt, changed []string) {
	if a.job.Writes() {
		s.facts.Ownership = append(s.facts.Ownership, changed...)
	} else {
		s.facts.WroteObserving = append(s.facts.WroteObserving, changed...)
	}
}

// keepAnswer leaves the final answer in output.md. It was redacted when it was
// captured.
func (r *run) keepAnswer(a *attempt, s *settlement) error {
	if a.unsearched != nil {
		return a.unsearched
	}
	s.facts.Answer = a.exit.Outcome.Answer
	if a.cmd.Answer == runtime.AnswerFromStdout {
		data, err := r.led.ReadFile(ledger.JobPath(a.job.ID, ledger.StdoutFile))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		s.facts.Answer = untrusted.From(string(data))
	}
	return r.led.WriteText(ledger.JobPath(a.job.ID, ledger.OutputFile), s.facts.Answer)
}

// complaint is the beginning of what an attempt without a completion event wrote to
// its standard error: why it did not begin stands there, if anywhere.
func (r *run) complaint(a *attempt) untrusted.Text {
	if a.job.Exec() || a.exit.Outcome.Completed {
		return untrusted.Text{}
	}
	data, err := r.led.ReadFile(ledger.JobPath(a.job.ID, ledger.StderrFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.note(ledger.Noted(a.job.ID, r.redact.String(err.Error())))
	}
	const most = 16 << 10
	return untrusted.From(string(data[:min(len(data), most)]))
}

// inspectTree takes a writer's patch, and finds what an observer changed.
func (r *run) inspectTree(ctx context.Context, a *attempt, s *settlement) error {
	if a.at.lost != nil {
		return fmt.Errorf("what job %s did cannot be taken: %w", a.job.ID, a.at.lost)
	}
	if err := r.relink(a); err != nil {
		return fmt.Errorf("what job %s did could not be taken: %w", a.job.ID, err)
	}
	if !a.job.Writes() {
		return r.inspectObserved(ctx, a, s)
	}
	if a.at.tree == nil {
		return nil
	}
	if err := r.takePatch(ctx, a, s); err != nil {
		return fmt.Errorf("the patch of job %s could not be taken: %w", a.job.ID, err)
	}
	patch := s.patch
	if err := r.unheld(ctx, a, *patch, s); err != nil {
		return err
	}
	r.setSnapshot(a.job.ID, patch.Commit)
	if s.displayOnly && len(s.facts.InjectedSecret) == 0 {
		r.tell(fmt.Sprintf("job %s: something that looks like a secret is in what its patch shows; %s/%s is a redacted copy and cannot be applied, `git diff %s %s` shows all of it",
			a.job.ID, a.job.ID, ledger.PatchFile, patch.Base, patch.Commit))
	}
	outside := check.Ownership(a.job.OwnedPaths, r.cwdIn(a), paths(patch.Files))
	if a.taken && a.at.shared() {
		var others []string
		if outside, others = r.ownWork(a, outside); len(others) > 0 {
			r.tell(fmt.Sprintf("job %s: its patch also holds what somebody else changed in the checkout after it had ended: %s", a.job.ID, some(others)))
		}
	}
	s.facts.Ownership = append(s.facts.Ownership, r.perhapsOthers(ctx, a, outside)...)
	return r.inspectOwned(a, s)
}

// takePatch records what a writer changed.
func (r *run) takePatch(ctx context.Context, a *attempt, s *settlement) error {
	patch, err := a.at.tree.Capture(ctx, r.captureOf(ctx, a, s))
	if err != nil {
		return err
	}
	failpoint.Hit(failpoint.Captured)
	s.patch = &patch
	return r.keepDiffstat(a.job.ID, patch.Files)
}

// inspectOwned finds a repository that a writer made in its part of the shared checkout,
// where there was none: what a person's git would do there, its files decide.
func (r *run) inspectOwned(a *attempt, s *settlement) error {
	if !a.at.shared() || a.box == nil {
		return nil
	}
	for _, dir := range r.ownedBy(a) {
		found, err := repositoryIn(dir)
		if err != nil && !errors.Is(err, errTooMany) {
			return err
		}
		if found != "" {
			s.facts.Ownership = append(s.facts.Ownership, relTo(a.at.top, found))
		}
	}
	return nil
}

// ownedBy are the folders of its tree that a boxed attempt may change.
func (r *run) ownedBy(a *attempt) []string {
	return slices.DeleteFunc(slices.Clone(a.box.Write), func(dir string) bool {
		return !inside(a.at.top, dir) || inside(r.led.Dir, dir) || r.eng.opened(dir)
	})
}

// inspectObserved finds what an observer changed, and keeps it.
func (r *run) inspectObserved(ctx context.Context, a *attempt, s *settlement) error {
	if a.at.tree != nil {
		changed, err := a.at.tree.Changed(ctx)
		if err != nil {
			return err
		}
		s.facts.WroteObserving = append(s.facts.WroteObserving, paths(changed)...)
	}
	if len(s.facts.WroteObserving) == 0 {
		return nil
	}
	return r.keepDiff(ctx, a, a.before, s)
}

// runChecks runs the declared checks where the job worked, with its environment.
func (r *run) runChecks(ctx context.Context, slot int, a *attempt, s *settlement) error {
	var err error
	s.checks, err = check.Run(ctx, a.job.Checks, check.Env{
		Runner: &checkRunner{r, slot, a}, Job: a.job.ID, Dir: a.at.dir, RunDir: r.led.Dir, Environ: a.env,
		Redact: r.redact.String, Scripted: r.scripted(a.job.ID), Begun: r.each(a.job.ID, ledger.StepCheck),
		Record: func(rel string, c ledger.CheckResult) error { return r.led.WriteJSON(rel, c) },
	})
	for _, c := range s.checks {
		switch {
		case c.Status == check.NotRun && ctx.Err() != nil:
			s.facts.ChecksCut = true
		case !check.OK(c):
			s.facts.FailedChecks = append(s.facts.FailedChecks, fmt.Sprintf("%s %s", c.Name, c.Status))
		}
	}
	return err
}

// hashOutputs finds the declared outputs where the job had to leave them. On a
// route that can write nothing the final answer is the single output.
func (r *run) hashOutputs(a *attempt, s *settlement) {
	if a.job.Writes() {
		s.artifacts, s.problems = check.Outputs(a.job.Outputs, func() (*os.Root, error) { return os.OpenRoot(a.at.dir) }, "tree")
	} else {
		source := "artifacts"
		if answers(a.job, a.route) && r.answerAsOutput(a.job, s.facts.Answer) {
			source = "answer"
		}
		s.artifacts, s.problems = check.Outputs(a.job.Outputs, func() (*os.Root, error) { return r.artifacts(a) }, source)
	}
	for _, p := range s.problems {
		s.facts.MissingOutputs = append(s.facts.MissingOutputs, fmt.Sprintf("%s: %s", p.Path, p.Detail))
	}
}

// answers reports whether the final answer becomes the job's single output.
func answers(j *spec.Job, route ledger.Route) bool {
	return !j.Exec() && !j.Writes() && len(j.Outputs) == 1 && route.Access == string(runtime.AccessRead)
}

// answerAsOutput writes the answer to the declared output unless the job did so
// itself, and reports whether it did.
func (r *run) answerAsOutput(j *spec.Job, answer untrusted.Text) bool {
	rel := ledger.JobPath(j.ID, ledger.ArtifactsDir, j.Outputs[0].Path)
	if _, err := r.led.ReadFile(rel); err == nil || answer.Blank() {
		return false
	}
	err := r.led.MkdirAll(filepath.ToSlash(filepath.Dir(rel)))
	if err == nil {
		err = r.led.WriteText(rel, answer)
	}
	r.fail(err)
	return err == nil
}

// cwdIn is the job's cwd from the top of the tree that its changes are told in.
func (r *run) cwdIn(a *attempt) string {
	rel, err := filepath.Rel(a.at.top, a.at.dir)
	if err != nil {
		return "."
	}
	return filepath.ToSlash(rel)
}

func paths(changes []workspace.Change) []string {
	var out []string
	for _, c := range changes {
		out = append(out, c.Path)
	}
	return out
}
