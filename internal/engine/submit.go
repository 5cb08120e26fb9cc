package engine

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/secret"
	"orchestrate/internal/workspace"
)

// SubmitRequest is what the hosting session hands in for a job.
type SubmitRequest struct {
	Dir     string // absolute run directory
	Job     string
	Attempt string // id, as in the request
	Result  []byte // the final answer; none of one that failed
	Failed  bool
	Reason  string // why it failed
	Agent   string // who did it, "" = as was asked
	Model   string // "" = not said
	Usage   *runtime.Usage
}

// Submitted says what became of it.
type Submitted struct {
	handoff.Taken
	Redacted []secret.Match // secrets that were taken out before it was written
}

// mostReason bounds what is kept of why a job failed, in bytes.
const mostReason = 16 << 10

// Submit keeps what came back of a job for the engine that takes it in, redacted as all
// that a run keeps. A *handoff.RefusedError says why it did not.
func (e *Engine) Submit(ctx context.Context, req SubmitRequest) (Submitted, error) {
	redact, err := e.redactorOf(ctx, req.Dir)
	if err != nil {
		return Submitted{}, fmt.Errorf("nothing was handed in: %w", err)
	}
	s, result, out := e.cleanSubmission(redact, req)
	release, err := ledger.LockHandoff(ctx, req.Dir)
	if err != nil {
		return out, err
	}
	out.Taken, err = e.keep(req, s, result)
	return out, errors.Join(err, release())
}

// redactorOf takes out what is secret where a run works: that of an engine that carries
// it on.
func (e *Engine) redactorOf(ctx context.Context, dir string) (*secret.Redactor, error) {
	var info ledger.RunInfo
	run, err := ledger.Look(dir, func(r ledger.Record) error {
		if r.Kind == ledger.KindRunStarted {
			info = *r.Run
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	redact, err := e.redactorAs(ctx, run, info)
	if err = errors.Join(err, run.Close()); err != nil {
		return nil, fmt.Errorf("what is secret in this workspace cannot be told: %w", err)
	}
	return redact, nil
}

// redactorAs makes it from what the run has on record, so that a spec which cannot be
// read any more keeps nothing from being handed in.
func (e *Engine) redactorAs(ctx context.Context, run *ledger.Run, info ledger.RunInfo) (*secret.Redactor, error) {
	p := &Plan{Request: Request{Cwd: info.Cwd}}
	if err := p.locate(ctx); err != nil {
		return nil, err
	}
	data, err := run.ReadFile(ledger.JobsFile)
	if err != nil {
		return nil, err
	}
	var written struct {
		Roots []string `yaml:"workspace_roots"`
	}
	if err := yaml.Unmarshal(data, &written); err != nil {
		return nil, fmt.Errorf("%s: %w", run.Path(ledger.JobsFile), err)
	}
	jobs, err := copiersOf(run, data)
	if err != nil {
		return nil, err
	}
	folders := append([]string{p.Root}, written.Roots...)
	for i, dir := range written.Roots {
		if i == 0 {
			p.Root = dir
		}
		if repo, err := workspace.Open(ctx, dir); err == nil {
			folders = append(folders, repo.Top())
		}
	}
	for _, j := range jobs {
		folders = append(folders, j.Cwd)
		found, err := secretsIn(j.Cwd, j.Worktree.Copy)
		if err != nil {
			return nil, err
		}
		p.inCopies = append(p.inCopies, found...)
	}
	_, err = p.guard(e, folders...)
	return p.redact, err
}

// cleanSubmission takes secrets out of what is handed in.
func (e *Engine) cleanSubmission(redact *secret.Redactor, req SubmitRequest) (handoff.Submission, []byte, Submitted) {
	var out Submitted
	clean := func(text string) string {
		out.Redacted = append(out.Redacted, redact.Matches(text)...)
		return redact.String(text)
	}
	s := handoff.Submission{
		SchemaVersion: ledger.SchemaVersion, Attempt: req.Attempt, Failed: req.Failed, Reason: clean(req.Reason),
		Agent: clean(req.Agent), Model: clean(req.Model), Usage: req.Usage, At: e.Now().UTC(),
	}
	return s, []byte(clean(string(req.Result))), out
}

// keep holds what is handed in against the run as it stands, and writes it.
func (e *Engine) keep(req SubmitRequest, s handoff.Submission, result []byte) (taken handoff.Taken, err error) {
	run, err := ledger.Open(req.Dir)
	if err != nil {
		return taken, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	for _, j := range run.State().Jobs {
		if j.ID != req.Job {
			continue
		}
		if err := bounded(run, req); err != nil {
			return taken, err
		}
		if err := byPinned(run, j.ID, s); err != nil {
			return taken, err
		}
		return handoff.Accept(run, j, s, result)
	}
	return taken, fmt.Errorf("run %s has no job %q", run.ID, req.Job)
}

// bounded reports what is too large, or no text.
func bounded(run *ledger.Run, req SubmitRequest) error {
	r, there, err := handoff.ReadRequest(run, req.Job)
	if err != nil {
		return err
	}
	limit := int64(handoff.MaxResult)
	if there && r.MaxResultBytes > 0 {
		limit = min(limit, r.MaxResultBytes)
	}
	switch {
	case int64(len(req.Result)) > limit:
		return fmt.Errorf("the result of job %s is larger than the %d bytes that it may have (max_output_bytes); hand in a shorter one, and leave what is long in a declared output", req.Job, limit)
	case len(req.Reason) > mostReason:
		return fmt.Errorf("the reason is longer than %d bytes", mostReason)
	case !utf8.Valid(req.Result) || !utf8.ValidString(req.Reason):
		return fmt.Errorf("the result of job %s is not UTF-8 text; hand in the final answer as text, and leave anything else in a declared output", req.Job)
	}
	return nil
}

// Attended reports whether a run has nothing to do that nobody does: see Offer.Idle.
func Attended(dir string) (state ledger.State, ok bool, err error) {
	owned, err := ledger.Owned(dir)
	if err != nil {
		return state, false, err
	}
	run, err := ledger.Open(dir)
	if err != nil {
		return state, false, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	away, err := handoff.Look(run)
	return run.State(), owned || !unattended(run.State(), away), err
}
