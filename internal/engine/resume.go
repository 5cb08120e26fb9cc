package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"orchestrate/internal/failpoint"
	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
)

// ResumeRequest says which run goes on, and how.
type ResumeRequest struct {
	Dir         string // absolute run directory
	RetryFailed bool   // jobs that failed are tried again
	Stop        bool   // what still runs is only ended; nothing is started
	Internal    bool   // see Request
	Yes         bool   // see Request
	Concurrency int    // jobs beside each other in what is left; 0 = as the spec says
	// Agents replaces what a hosting session said of its agents when the run began; nil =
	// that stands.
	Agents *handoff.Agents
	// Continues says that no person resumes the run: something was handed in or taken, and
	// nobody was there to see to it. What is settled stays as it is.
	Continues bool
}

// ErrNothingToResume says that the run is over and nothing of it would be done again.
var ErrNothingToResume = errors.New("there is nothing to resume")

// Resume carries a run on that its engine left: it replays the journal, takes over
// what still runs, keeps the successes that still hold, and walks on as Run does. An
// error that wraps ErrNothingToResume leaves everything as it was; the Result then is
// that of the run.
func (e *Engine) Resume(ctx context.Context, req ResumeRequest, obs Observer, ctl Controls) (res Result, err error) {
	old := newPast()
	led, err := ledger.Reopen(req.Dir, old.record)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, led.Close()) }()
	if err := NoFurther(led); err != nil && !req.Stop {
		return res, err
	}
	p, err := e.reread(ctx, led, old)
	if err != nil && req.Stop && old.open > 0 {
		return res, e.stopAnyway(ctx, led, old, obs, ctl)
	}
	if err != nil {
		return res, err
	}
	p.Spec.Concurrency = cmp.Or(req.Concurrency, p.Spec.Concurrency)
	p.Request.Internal, p.Request.Yes = req.Internal || old.run.Internal, req.Yes
	if err := p.takeAgents(led, old.run, req.Agents); err != nil {
		return res, err
	}
	r, err := e.newRun(ctx, p)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, r.slots.close()) }()
	r.led, r.resumed, r.stopping, r.given = led, true, req.Stop, old.given
	if r.continues = req.Continues; r.continues {
		r.unbroken, r.noted = old.parked, old.noted
	}
	r.settleIn()
	if err := r.finishIntegration(ctx); err != nil {
		return res, err
	}
	if err := r.recall(ctx, old, req); err != nil {
		return res, err
	}
	if res, over := r.over(old, req); over {
		return res, fmt.Errorf("%w: %s", ErrNothingToResume, res.Completion)
	}
	defer r.control(ctl)()
	return r.goOn(ctx, old, req, obs)
}

// goOn is the resumed run from its first record on.
func (r *run) goOn(ctx context.Context, old *past, req ResumeRequest, obs Observer) (Result, error) {
	var early []string
	if !req.Stop {
		early = r.sayEarly(r.led.State().Paused)
	}
	first := []ledger.Record{ledger.Resumed(req.RetryFailed)}
	first[0].Internal = req.Internal
	if req.Agents != nil {
		first[0].AgentsDigest = r.plan.agentsDigest()
		if err := r.keepAgents(); err != nil {
			return Result{}, err
		}
	}
	if err := r.led.Append(first...); err != nil {
		return Result{}, err
	}
	failpoint.Hit(failpoint.Resumed)
	obs.Begun(r.led.ID, r.led.Dir)
	obs.Record(first[0])
	r.led.Follow(obs.Record)
	for _, text := range slices.Concat(r.led.Notes(), r.warn, early) {
		r.note(ledger.Noted("", r.redact.String(text)))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := r.reconcile(ctx, old, req); err != nil {
		return Result{}, err
	}
	r.tidyPrivate()
	failpoint.Hit(failpoint.Reconciled)
	if req.Stop {
		cancel()
	}
	return r.carryThrough(ctx, obs)
}

// sayEarly says of which runtimes the quota is not back yet, as they said themselves: what
// is resumed is started on them all the same.
func (r *run) sayEarly(paused []ledger.Paused) (all []string) {
	for _, p := range paused {
		if p.Until == nil && p.Resets != nil && p.Resets.After(r.eng.Now()) {
			all = append(all, fmt.Sprintf("%s said that its quota is back at %s; it is tried before that, since the run was resumed", p.Runtime, pointInTime(*p.Resets)))
		}
	}
	return all
}

// reread reads the spec as it was when the run began, not as it may be by now: what
// was done was done for that one. Jobs of lists that were made have their items.
func (e *Engine) reread(ctx context.Context, led *ledger.Run, old *past) (*Plan, error) {
	info := old.run
	if info.Cwd == "" {
		return nil, fmt.Errorf("%s was written by a version of orchestrate that could not resume: run its %s anew", led.Dir, ledger.SpecFile)
	}
	source, changed, err := specOf(led, info)
	if err != nil {
		return nil, err
	}
	p := &Plan{Request: Request{Spec: info.SpecPath, Cwd: info.Cwd, Rehearse: info.Rehearse, Script: info.Script, Worker: info.Worker}, source: source, fixed: info.Base}
	p.asked = recordedRequest(info)
	if p.house, err = recordedHouse(led, info); err != nil {
		return nil, err
	}
	errs, err := p.readAll(ctx, e)
	if err != nil {
		return nil, err
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("the spec of this run cannot be read any more: put back what it names, or end what still runs with `orchestrate cancel %s`\n%s", led.ID, spec.Format(errs, source))
	}
	if changed && NoFurther(led) == nil {
		p.Notes = append(p.Notes, fmt.Sprintf("%s has changed since the run began; this run goes on with the spec as it was; run the changed one anew", info.SpecPath))
	}
	p.fillKnown(old.lists)
	p.sayHouseChanged()
	return p, p.sayMoved(ctx)
}

// specOf is the spec's text of the run, and whether the file that it came from has
// changed. The copy in the run directory may lack what looked like a secret; then
// only the file itself will do.
func specOf(led *ledger.Run, info ledger.RunInfo) (source []byte, changed bool, err error) {
	now, fileErr := os.ReadFile(info.SpecPath)
	changed = fileErr != nil || digest(now) != info.SpecDigest
	source, err = led.ReadFile(ledger.SpecFile)
	switch {
	case err == nil && digest(source) == info.SpecDigest:
		return source, changed, nil
	case !changed:
		return now, false, nil
	case err != nil:
		return nil, true, err
	}
	return nil, true, fmt.Errorf("%s holds the spec without what looked like a secret in it, and %s has changed since: put that file back as it was, or run it anew", led.Path(ledger.SpecFile), info.SpecPath)
}

// sayMoved notes that what the spec calls its base is another commit by now.
func (p *Plan) sayMoved(ctx context.Context) error {
	if p.Repo == nil || p.fixed == "" {
		return ctx.Err()
	}
	now, err := p.Repo.Resolve(ctx, p.Spec.Base)
	switch {
	case err != nil:
		p.Notes = append(p.Notes, fmt.Sprintf("the base of this run, commit %.12s, is no longer what %s names: %v", p.fixed, p.Spec.Base, err))
	case now != p.fixed:
		p.Notes = append(p.Notes, fmt.Sprintf("%s has moved to %.12s since the run began; this run goes on from its base, commit %.12s", p.Spec.Base, now, p.fixed))
	}
	return ctx.Err()
}

// over reports whether nothing would be done, and what the run came to.
func (r *run) over(old *past, req ResumeRequest) (Result, bool) {
	st := r.led.State()
	if st.Phase != ledger.PhaseEnded || st.ExitStatus == nil {
		return Result{}, false
	}
	res := Result{Dir: r.led.Dir, Exit: *st.ExitStatus, Completion: fmt.Sprintf("the run has ended with verdict %s", st.Verdict)}
	if req.Stop {
		return res, true
	}
	for id, j := range old.jobs {
		if id != ledger.ArbiterJob && (j.awaits(req.RetryFailed) || j.status == nil) {
			return Result{}, false
		}
	}
	failed := false
	for i := range r.plan.Jobs {
		j := r.jobs[r.plan.Jobs[i].Job.ID]
		if j.status == nil || j.stale != "" {
			return Result{}, false
		}
		failed = failed || j.status.Status == ledger.Failed
	}
	if failed {
		res.Completion += "; `orchestrate resume " + r.led.ID + " --retry-failed` tries what failed again"
		return res, true
	}
	return res, r.judgementHolds(st)
}
