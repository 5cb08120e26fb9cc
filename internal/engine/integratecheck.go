package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"orchestrate/internal/check"
	"orchestrate/internal/integrate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/process"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// keepFrom begins what this integration leaves in the run directory, beside what those
// before it left. Their trees go: at most the newest is there to be looked at.
func (i *integration) keepFrom(ctx context.Context) (*os.File, error) {
	newest, err := newestIntegration(i.led)
	if err != nil {
		return nil, err
	}
	if err := i.endEarlier(ctx, newest); err != nil {
		return nil, err
	}
	_, lock, err := i.led.BeginAttempt(ledger.IntegrationJob, newest+1)
	if err != nil {
		return nil, err
	}
	if err := i.tidy(ctx, newest); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// endEarlier ends what still runs of integration n, which was cut off, as a resume does with
// what it has no use for; it returns when that is proven gone.
func (i *integration) endEarlier(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	held, err := i.led.AttemptLock(ledger.IntegrationJob)
	if err != nil {
		return err
	}
	if i.ctl.Tell != nil && held.Unended() && held.Supervisor.Fate() != process.Gone {
		i.ctl.Tell(fmt.Sprintf("a check of an integration that was cut off still runs: process %d is told to end it", held.Supervisor.PID))
	}
	a := &attempt{job: &spec.Job{ID: ledger.IntegrationJob}, n: n, dir: i.led.JobDir(ledger.IntegrationJob)}
	now, cancel := context.WithCancel(ctx)
	cancel() // its end is not waited for, but brought about
	if err := i.awaitEnd(now, a); err != nil {
		return err
	}
	defer a.release()
	if held, err = i.led.AttemptLock(ledger.IntegrationJob); err != nil || !held.Unended() {
		return err
	}
	if proof := i.endRemains(ctx, a); !proof.Gone {
		return refuse(ExitFailed, fmt.Sprintf("a check of an integration that was cut off is not proven to have ended: %s; its supervisor was process %d on %s; end what is left of it and try again",
			left(proof), held.Supervisor.PID, held.Supervisor.Host))
	}
	return nil
}

// tidy removes the tree of integration n, whose processes are gone, and private folders
// that it may have left.
func (r *run) tidy(ctx context.Context, n int) error {
	r.tidyPrivate()
	if n == 0 {
		return nil
	}
	if err := r.dropTree(ctx, r.treeDir(n)); err != nil {
		return fmt.Errorf("the tree in which an earlier integration ran its checks: %w; move it away and try again", err)
	}
	return nil
}

// dropTree removes a worktree of the engine's own, if there is anything of it.
func (r *run) dropTree(ctx context.Context, dir string) error {
	all, err := r.plan.Repo.Registrations()
	if err != nil {
		return err
	}
	gitDir := ""
	for _, reg := range all {
		if reg.Names(dir) {
			gitDir = reg.GitDir
		}
	}
	return r.plan.Repo.RemoveTree(ctx, dir, gitDir)
}

// treeDir is the tree in which integration n runs its checks.
func (r *run) treeDir(n int) string {
	return filepath.Join(r.treeRoot, ledger.TreeName(ledger.IntegrationJob, n))
}

// resultChecks are the checks of the result, each with what it runs in.
type resultChecks struct {
	run  *run
	list []spec.Check
	in   []*attempt
	next int
	tell func(string) // of each, nil = nobody

	denied []untrusted.Text // what says that the sandbox refused something
}

// Run implements check.Runner, which asks for one after the other.
func (c *resultChecks) Run(ctx context.Context, cmd check.Command) (check.Result, error) {
	if c.tell != nil {
		c.tell("on the result: " + c.run.redact.String(check.Shown(c.list[c.next])))
	}
	a := c.in[c.next]
	c.next++
	cmd.Dir, cmd.Env = a.at.dir, a.env
	exit, _, err := (&checkRunner{run: c.run, attempt: a}).supervised(ctx, cmd, a.box, func(dir string) error {
		refused, err := refusalsIn(dir)
		for _, e := range refused {
			c.denied = append(c.denied, e.Text)
		}
		return err
	})
	return resultOf(exit), err
}

// checkResult runs the chosen jobs' checks on the result, in a tree of its own that goes
// when they passed. What they change there changes nothing of the result.
func (i *integration) checkResult(ctx context.Context, lock *os.File) (err error) {
	declared := i.declared()
	if len(declared) == 0 {
		return nil
	}
	i.plan.Sandbox = i.eng.Level(ctx)
	if !i.plan.Sandbox.Holds() {
		i.in.Why = append(i.in.Why, "no sandbox holds the checks here: "+i.plan.Sandbox.Evidence)
	}
	base, err := i.resultTree(ctx, lock)
	if err != nil {
		return err
	}
	defer func() {
		i.dropPrivate(base)
		if !i.failing {
			_, linked := base.at.tree.Relink() // a check may have changed what proves that it is ours
			err = errors.Join(err, linked, i.plan.Repo.RemoveTree(context.WithoutCancel(ctx), base.at.top, base.at.tree.Place().GitDir))
		}
	}()
	if err := i.furnishResult(ctx, base); err != nil {
		return err
	}
	i.in.Checks, err = i.runIn(ctx, base, declared, false)
	return err
}

// runIn runs commands of the chosen jobs in the tree of the result, and refuses it when
// one fails. The tree is then kept.
func (i *integration) runIn(ctx context.Context, base *attempt, declared []declaredCheck, setup bool) ([]ledger.Check, error) {
	c, err := i.furnishChecks(base, declared)
	if err != nil {
		return nil, err
	}
	c.tell = i.ctl.Tell
	done, err := check.Run(ctx, c.list, check.Env{
		Runner: c, Job: ledger.IntegrationJob, RunDir: i.led.Dir, Redact: i.redact.String, Setup: setup,
		Record: func(rel string, res ledger.CheckResult) error { return i.led.WriteJSON(rel, res) },
	})
	if ctx.Err() != nil {
		return done, ctx.Err()
	}
	what := "check"
	if setup {
		what = "set-up command"
	}
	no := passed(what, done, i.led.Path)
	if err != nil {
		no = append(no, i.redact.String(err.Error()))
	}
	if i.failing = len(no) > 0; !i.failing {
		return done, nil
	}
	return done, refuse(ExitFailed, append(no, "the result is in "+base.at.top+" to be looked at"+refusedHint(c.denied))...)
}

// passed says which commands did not.
func passed(what string, done []ledger.Check, path func(...string) string) (why []string) {
	for _, c := range done {
		if !check.OK(c) {
			why = append(why, fmt.Sprintf("%s %s %s on the result; what it said is in %s", what, c.Name, c.Status, path(c.Output)))
		}
	}
	return why
}

// declaredCheck is a check with the job that declares it.
type declaredCheck struct {
	spec.Check
	job *spec.Job
}

// declared are the commands that the chosen jobs declare as checks, each once.
func (i *integration) declared() []declaredCheck {
	return i.each(func(j *spec.Job) []spec.Check { return j.Checks })
}

// each are the commands of the chosen jobs that of names, each once for all that run it
// alike: in one folder, for the same item, with the same time, environment and sign-in.
func (i *integration) each(of func(*spec.Job) []spec.Check) (all []declaredCheck) {
	seen := map[string]bool{}
	for _, w := range integrate.Chosen(i.in.Jobs) {
		pl, _ := i.plan.Planned(w.Job)
		for _, c := range of(pl.Job) {
			what := alike(w, pl.Job, c)
			if c.Assert != "" || seen[what] {
				continue
			}
			seen[what] = true
			all = append(all, declaredCheck{c, pl.Job})
		}
	}
	return all
}

// alike is the same for commands that are run alike.
func alike(w integrate.Work, j *spec.Job, c spec.Check) string {
	signIn := ""
	if j.Credentialed {
		signIn = w.Runtime
	}
	env := slices.Compact(slices.Sorted(slices.Values(j.EnvAllow)))
	return fmt.Sprintf("%q %q %q %s %q %t %q %q", j.Cwd, c.Shell, c.Run, c.Timeout, env, j.Credentialed, signIn, itemText(j))
}

// furnishResult gives the tree of the result what the jobs' own trees had: the files that
// they name, and what their set-up makes.
func (i *integration) furnishResult(ctx context.Context, base *attempt) error {
	files := map[string]copied{}
	for _, w := range integrate.Chosen(i.in.Jobs) {
		for _, f := range i.plan.copies[w.Job] {
			files[f.Path] = f
		}
	}
	standing, err := base.at.tree.Standing(ctx, slices.Collect(maps.Keys(files)))
	if err != nil {
		return err
	}
	to, err := os.OpenRoot(base.at.top)
	if err != nil {
		return err
	}
	defer to.Close() //nolint:errcheck // what is written in it is closed for itself
	for name, f := range files {
		if standing.Tracked[name] { // the work brought it along
			continue
		}
		if err := i.copyOne(to, f); err != nil {
			return fmt.Errorf("%s cannot be copied to the result: %w", name, err)
		}
	}
	setup := i.each(func(j *spec.Job) []spec.Check { return j.Worktree.Setup })
	if len(setup) == 0 {
		return nil
	}
	_, err = i.runIn(ctx, base, setup, true)
	return err
}

// resultTree makes the tree in which the checks run.
func (i *integration) resultTree(ctx context.Context, lock *os.File) (*attempt, error) {
	n, err := newestIntegration(i.led)
	if err != nil {
		return nil, err
	}
	dir := i.treeDir(n)
	if err := os.MkdirAll(i.treeRoot, 0o700); err != nil {
		return nil, err
	}
	tree, err := i.plan.Repo.AddWorktree(ctx, dir, "", i.in.Target.To)
	if err != nil {
		return nil, err
	}
	a := &attempt{
		job: &spec.Job{ID: ledger.IntegrationJob, Effect: "scoped-write"}, n: n, lock: lock, dir: i.led.JobDir(ledger.IntegrationJob), mark: newMark(), begun: i.in.At,
		route: ledger.Route{Runtime: runtimeExec, Isolation: isolationWorktree}, at: place{dir: dir, top: dir, tree: tree, isolated: true},
	}
	err = errors.Join(
		i.led.MkdirAll(ledger.JobPath(ledger.IntegrationJob, ledger.ArtifactsDir)),
		i.led.Furnish(ledger.IntegrationJob, lock, a.furnished()),
	)
	return a, err
}

// furnishChecks gives each check the environment and the sandbox that it had in its job's
// tree, and all of them one private folder.
func (i *integration) furnishChecks(base *attempt, declared []declaredCheck) (*resultChecks, error) {
	exec, ok := i.eng.adapter(runtimeExec)
	if !ok {
		return nil, errors.New("this build cannot run checks")
	}
	if base.env = i.environment(base, exec); base.private.Path == "" {
		if err := i.furnishPrivately(base); err != nil {
			return nil, err
		}
	}
	c := &resultChecks{run: i.run}
	for _, d := range declared {
		if d.job.Item.Unknown() { // it would be shown nothing, and might find that well
			return nil, refuse(ExitFailed, fmt.Sprintf("check of job %s: its item is not on record any more", d.job.ID))
		}
		a := *base
		a.job = &spec.Job{ID: ledger.IntegrationJob, Effect: base.job.Effect, EnvAllow: d.job.EnvAllow, Credentialed: d.job.Credentialed, Item: d.job.Item}
		a.at.dir = filepath.Join(base.at.top, filepath.FromSlash(relTo(i.plan.Repo.Top(), d.job.Cwd)))
		if err := a.at.inTree(d.job.ID); err != nil {
			return nil, refuse(ExitFailed, fmt.Sprintf("check of job %s: %v", d.job.ID, err))
		}
		if err := i.furnishCheck(&a, i.adapterOf(d.job.ID)); err != nil {
			return nil, err
		}
		c.list, c.in = append(c.list, d.Check), append(c.in, &a)
	}
	return c, nil
}

// adapterOf is that of the runtime that did a job: its checks get its sign-in.
func (i *integration) adapterOf(job string) runtime.Adapter {
	if ad, ok := i.eng.adapter(i.old.job(job).status.Runtime); ok {
		return ad
	}
	exec, _ := i.eng.adapter(runtimeExec)
	return exec
}

func (i *integration) furnishCheck(a *attempt, ad runtime.Adapter) (err error) {
	a.env = i.environment(a, ad)
	if i.plan.Sandbox.Holds() {
		if a.box, err = i.draw(a, "", runtime.Confinement{}); err != nil {
			return err
		}
		a.box.Write = append(slices.Clone(a.box.Write), a.private.Path)
	}
	i.completeEnvironment(a, ad)
	return nil
}
