package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v4"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/planner"
	"orchestrate/internal/spec"
)

// PlannerJob is the only job of a run that makes a spec from a request.
const PlannerJob = "planner"

// repairs is how often a planner is told what was wrong with its answer.
const repairs = 2

// DraftRequest says what a spec is wanted for.
type DraftRequest struct {
	Cwd      string          // absolute
	Text     string          // request.md: the person's words
	Internal bool            // of the spec, see Request; the planner itself is never such an agent
	Agents   *handoff.Agents // see Request
}

// drafting is what a run is about whose only job is the planner's.
type drafting struct {
	req    DraftRequest
	doc    ledger.Draft
	before *planner.Before // the newest answer that did not hold
}

// RequestError says that a request cannot be planned as it stands.
type RequestError struct{ Problems []string }

func (e *RequestError) Error() string {
	return "the request is refused, and nothing was written or asked:\n- " + strings.Join(e.Problems, "\n- ")
}

// Draft has a planner make a spec from a request, in a run of its own: routed, held,
// captured and told of as any other. What it came to is in the folder ledger.DraftDir of
// the run. Its exit status is 0 also where no spec is needed.
func (e *Engine) Draft(ctx context.Context, req DraftRequest, obs Observer, ctl Controls) (Result, error) {
	p, err := e.planning(ctx, req)
	if err != nil {
		return Result{}, err
	}
	return e.Run(ctx, p, obs, ctl)
}

// MayDraft says what stands against planning a request, such as a secret in it. Nothing
// is written, and nobody asked.
func (e *Engine) MayDraft(ctx context.Context, req DraftRequest) error {
	_, err := e.planning(ctx, req)
	return err
}

// planning is the plan of the run that the planner works in. The repository's defaults are
// not for it.
func (e *Engine) planning(ctx context.Context, req DraftRequest) (*Plan, error) {
	source, err := planningSpec(req.Text)
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Request: Request{Spec: ledger.RequestMDFile, Cwd: req.Cwd, Agents: req.Agents}, source: source,
		draft: &drafting{req: req, doc: ledger.Draft{SchemaVersion: ledger.SchemaVersion, RequestDigest: digest([]byte(req.Text))}},
	}
	errs, err := p.readAll(ctx, e)
	if err != nil {
		return nil, err
	}
	if len(errs) > 0 {
		return nil, refusedRequest(errs)
	}
	if err := p.agentSecrets(); err != nil {
		return nil, err
	}
	p.Spec.Advice = nil // that one job alone gains nothing is known
	return p, ctx.Err()
}

// refusedRequest tells what is wrong with the request by what is wrong with the spec that
// holds it.
func refusedRequest(errs []spec.Diagnostic) error {
	all := &RequestError{}
	for _, d := range errs {
		if d.Rule != "secret" {
			return errors.New("the request cannot be planned: " + d.Message)
		}
		all.Problems = append(all.Problems, d.Message)
	}
	return all
}

// planningSpec is the spec of the run that the planner works in. The request stands for
// its prompt, which is whole only when the runtimes have been asked.
func planningSpec(request string) ([]byte, error) {
	type job struct {
		ID       string `yaml:"id"`
		Task     string `yaml:"task"`
		Effect   string `yaml:"effect"`
		Timeout  string `yaml:"timeout"`
		Expected string `yaml:"expected_output"`
		Prompt   string `yaml:"prompt"`
	}
	data, err := yaml.Marshal(struct {
		Version int               `yaml:"version"`
		Arbiter map[string]string `yaml:"arbiter"`
		Jobs    []job             `yaml:"jobs"`
	}{1, map[string]string{"mode": "checks-only"}, []job{{
		ID: PlannerJob, Task: "architecture", Effect: "observe", Timeout: (20 * time.Minute).String(),
		Expected: "a job spec that holds, or why no orchestration is needed", Prompt: request,
	}}})
	if err != nil {
		return nil, fmt.Errorf("the request cannot be written down: %w", err)
	}
	return data, nil
}

// draftPrompt is what the planner is asked: the plan's runtimes have answered by now.
func (r *run) draftPrompt(ctx context.Context, a *attempt) error {
	d := r.plan.draft
	if d == nil {
		return nil
	}
	form, err := planner.FormOf(spec.Schema())
	if err != nil {
		return err
	}
	outline, err := r.plan.outline(ctx)
	if err != nil {
		return err
	}
	a.prompt, err = planner.Prompt(planner.Asked{
		Request: requestText(d.req.Text), Form: form, Profiles: r.draftProfiles(), Internal: d.req.Internal,
		Outline: r.redact.String(outline), Before: d.before,
	})
	return err
}
