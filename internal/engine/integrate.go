package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"orchestrate/internal/failpoint"
	"orchestrate/internal/figure"
	"orchestrate/internal/integrate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/workspace"
)

// IntegrateRequest says which work of an ended run comes where.
type IntegrateRequest struct {
	Dir      string   // absolute run directory
	Jobs     []string // nil = all that left work
	Strategy string   // integrate.Merge or integrate.Patch
	Branch   string   // a new branch for it; "" = the one that is checked out
	DryRun   bool     // say what would be done, and do nothing
}

// IntegrateControls are how a person is shown and asked.
type IntegrateControls struct {
	Show func(integrate.Integration) // before anything is done: the work and the matrix
	Ask  func(context.Context, Question) Answer
	Tell func(line string) // that a check is run now; nil = nobody is told
	Kill <-chan struct{}   // closed: what runs gets no more grace
}

// integration is one that is under way.
type integration struct {
	*run
	req  IntegrateRequest
	ctl  IntegrateControls
	old  *past
	in   integrate.Integration
	ask  bool              // a person has to say yes
	made map[string]string // by job: the commit that brings its work
	// apart has, for each commit at which chosen work began, how many commits a merge would
	// bring along that the target has not.
	apart map[string]int
	// failing says that a command failed on the result, so that its tree is kept.
	failing bool
}

// refusal ends an integration that leaves everything as it was.
type refusal struct {
	exit int
	why  []string
	next []string
}

func (r *refusal) Error() string { return fmt.Sprintf("refused: %v", r.why) }

// refuse says what stands against an integration.
func refuse(exit int, why ...string) error { return &refusal{exit: exit, why: why} }

// Integrate brings the work of a run that passed onto a branch. Whatever stands against
// it is in the Integration, and everything is then as it was; an error is for what
// could not be found out or done. exit is the exit status.
func (e *Engine) Integrate(ctx context.Context, req IntegrateRequest, ctl IntegrateControls) (in integrate.Integration, exit int, err error) {
	old := newPast()
	led, err := ledger.Reopen(req.Dir, old.record)
	var owned *ledger.OwnedError
	switch {
	case errors.As(err, &owned):
		return in, ExitRunning, err
	case err != nil:
		return in, ExitFailed, err
	}
	defer func() { err = errors.Join(err, led.Close()) }()
	i, err := e.newIntegration(ctx, led, old, req, ctl)
	if err != nil {
		return in, ExitFailed, err
	}
	defer func() { err = errors.Join(err, i.slots.close()) }()
	defer i.control(Controls{Kill: ctl.Kill})()
	return i.ended(ctx, i.carryOut(ctx))
}

// newIntegration reads the run as it was begun.
func (e *Engine) newIntegration(ctx context.Context, led *ledger.Run, old *past, req IntegrateRequest, ctl IntegrateControls) (*integration, error) {
	req.Strategy = cmp.Or(req.Strategy, integrate.Merge)
	i := &integration{req: req, ctl: ctl, old: old, made: map[string]string{}}
	p, err := e.reread(ctx, led, old)
	if err != nil {
		return nil, err
	}
	if i.run, err = e.newRun(ctx, p); err != nil {
		return nil, err
	}
	i.led = led
	i.settleIn()
	i.in = integrate.Integration{
		SchemaVersion: ledger.SchemaVersion, RunID: led.ID, RunDir: led.Dir, Verdict: led.State().Verdict,
		Strategy: req.Strategy, DryRun: req.DryRun, At: e.Now().UTC().Round(0),
		Jobs: []integrate.Work{}, Matrix: integrate.Matrix{Target: []integrate.Clash{}, Pairs: []integrate.Clash{}},
		Checks: []ledger.Check{}, Why: []string{}, Next: []string{},
	}
	return i, nil
}

// ended is what came of it.
func (i *integration) ended(ctx context.Context, err error) (integrate.Integration, int, error) {
	var no *refusal
	switch {
	case ctx.Err() != nil && i.in.Outcome != integrate.Integrated:
		return i.in, ExitInterrupted, ctx.Err()
	case errors.As(err, &no):
		i.in.Outcome, i.in.Target.To = integrate.Refused, ""
		i.in.Why, i.in.Next = append(i.in.Why, no.why...), append(i.in.Next, no.next...)
		return i.in, no.exit, nil
	case err != nil:
		return i.in, ExitFailed, err
	}
	return i.in, ExitOK, nil
}

// carryOut is the story of an integration: read, foresee, show, make, check, move.
func (i *integration) carryOut(ctx context.Context) error {
	if i.plan.Repo == nil {
		i.in.Outcome = integrate.Nothing
		i.in.Why = append(i.in.Why, i.plan.Root+" is not in a git repository, so nothing of the run has to be integrated: its jobs worked there")
		return nil
	}
	if over, err := i.finishEarlier(ctx); over || err != nil {
		return err
	}
	if err := i.gate(); err != nil {
		return err
	}
	if err := i.aim(ctx); err != nil {
		return err
	}
	if err := i.collect(ctx); err != nil {
		return err
	}
	why := integrate.Choose(i.in.Jobs, i.req.Jobs)
	if len(integrate.Chosen(i.in.Jobs)) == 0 {
		return i.nothing()
	}
	if err := errors.Join(i.findApart(ctx), i.noteGrown(ctx)); err != nil {
		return err
	}
	if err := i.foresee(ctx); err != nil {
		return err
	}
	i.ctl.Show(i.in)
	if err := i.stands(ctx, why); err != nil {
		return err
	}
	if err := i.build(ctx); err != nil || i.in.Outcome != "" {
		return err
	}
	if i.req.DryRun {
		return i.ready()
	}
	if err := i.question(ctx); err != nil {
		return err
	}
	failpoint.Hit(failpoint.IntegrateBuilt)
	return i.finish(ctx)
}

// finish checks the result and moves the target.
func (i *integration) finish(ctx context.Context) error {
	lock, err := i.keepFrom(ctx)
	if err != nil {
		return err
	}
	defer lock.Close() // the kernel drops the lock with the descriptor whatever Close says
	if err := i.checkResult(ctx, lock); err != nil {
		return i.keepRefusal(err)
	}
	failpoint.Hit(failpoint.IntegrateChecked)
	if err := ctx.Err(); err != nil {
		return err
	}
	return i.keepRefusal(i.move(ctx))
}

// gate holds the run's verdict against what is asked.
func (i *integration) gate() error {
	var j ledger.Judgement
	data, err := i.led.ReadFile(ledger.JobPath(ledger.ArbiterJob, ledger.VerdictFile))
	if err == nil {
		err = json.Unmarshal(data, &j)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	way := integrate.Gate(i.led.State(), j.Verdict)
	i.ask = way.Ask
	switch {
	case len(way.Why) == 0:
		return nil
	case way.Judged:
		return &refusal{ExitBlocked, way.Why, way.Next}
	}
	return &refusal{ExitFailed, way.Why, way.Next}
}

// aim finds the target.
func (i *integration) aim(ctx context.Context) error {
	ref, commit, err := i.plan.Repo.Head(ctx)
	if err != nil {
		return err
	}
	i.in.Target = integrate.Target{Branch: workspace.BranchOf(ref), From: commit}
	if i.req.Branch == "" {
		return nil
	}
	if ourRef("refs/heads/" + i.req.Branch) {
		return refuse(ExitUsage, fmt.Sprintf("no new branch can have this name: %q; names that begin like it are those of runs; choose another", i.req.Branch))
	}
	if err := i.plan.Repo.NewBranch(ctx, i.req.Branch); errors.Is(err, workspace.ErrBadBranch) {
		return refuse(ExitUsage, err.Error())
	} else if err != nil {
		return err
	}
	i.in.Target.Branch, i.in.Target.New = i.req.Branch, true
	return nil
}

// named is the target for a person.
func (i *integration) named() string {
	switch t := i.in.Target; {
	case t.New:
		return fmt.Sprintf("the new branch %s (at %.12s)", t.Branch, t.From)
	case t.Branch == "":
		return fmt.Sprintf("commit %.12s, which is checked out", t.From)
	default:
		return "branch " + t.Branch
	}
}

func (i *integration) nothing() error {
	i.in.Outcome = integrate.Nothing
	for _, w := range i.in.Jobs {
		if w.Done != "" {
			i.in.Why = append(i.in.Why, fmt.Sprintf("job %s is there already, by commit %.12s", w.Job, w.Done))
		}
	}
	if len(i.in.Jobs) == 0 {
		i.in.Why = append(i.in.Why, "no job left work in a tree of its own")
	}
	return nil
}

func (i *integration) ready() error {
	i.in.Outcome, i.in.Target.To = integrate.Ready, ""
	i.in.Next = append(i.in.Next, i.command(i.req.Jobs))
	if i.ask {
		i.in.Why = append(i.in.Why, "nobody has reviewed the work: you will be asked, and each commit says so")
	}
	return nil
}

func (i *integration) command(jobs []string) string {
	return integrate.Command(i.led.ID, jobs, i.req.Strategy, i.req.Branch)
}

// question asks a person to let through what nobody reviewed.
func (i *integration) question(ctx context.Context) error {
	if !i.ask {
		return nil
	}
	var answer Answer
	if i.ctl.Ask != nil {
		answer = i.ctl.Ask(ctx, Question{Job: ledger.IntegrationJob, Shown: i.shownWork()})
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case answer.Asked && answer.Yes:
		i.in.Approved = byTerminal
		return nil
	case answer.Asked:
		return refuse(ExitBlocked, "nobody has reviewed the work, and you did not let it through")
	}
	return &refusal{ExitBlocked, []string{"nobody has reviewed the work: ask the user, who can let it through at a terminal"}, []string{i.command(i.req.Jobs)}}
}

// shownWork is what a person would let through.
func (i *integration) shownWork() string {
	text := fmt.Sprintf("onto %s, unreviewed:\n", i.named())
	for _, w := range integrate.Chosen(i.in.Jobs) {
		text += fmt.Sprintf("  %s (%s): %s, +%d -%d\n", w.Job, w.Runtime, figure.Count(len(w.Files), "file"), w.Insertions, w.Deletions)
	}
	return text
}
