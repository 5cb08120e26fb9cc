package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/ledger"
	"orchestrate/internal/worker"
)

// workerCallCommand is the command line of the engine that carries out a dispatch or a
// batch, after what was asked has been written down.
const workerCallCommand = "worker-call"

// workerCall is a run of the worker form: one dispatch or batch.
type workerCall struct {
	manner
	run    worker.Run
	spec   string // what the call is to do; "" = go on with resume
	resume string // run directory of an earlier call, whose failed tasks are done again
	task   string // of a dispatch: whose exit code is the command's; "" = a batch
	beside int    // with resume: how many tasks run at a time, 0 = as many as before
}

func newWorkerCall(sys System) *cobra.Command {
	c := workerCall{}
	cmd := &cobra.Command{
		Use: workerCallCommand + " RUN", Hidden: true, Args: exactArgs("RUN"),
		Short: "Carry out a call of the worker form that has been written down",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if c.run, err = openWorker(sys, args[0]); err != nil {
				return err
			}
			return c.conduct(cmd.Context(), sys)
		},
	}
	cmd.Flags().StringVar(&c.spec, "spec", "", "what is to be done")
	cmd.Flags().StringVar(&c.resume, "resume", "", "the call whose failed tasks are done again")
	cmd.Flags().IntVar(&c.beside, "max-parallel", 0, "with --resume, how many of them at a time")
	cmd.Flags().StringVar(&c.task, "task", "", "the task whose exit code this one is")
	c.flags(cmd.Flags())
	return cmd
}

// args are the command line of its engine.
func (c workerCall) args() []string {
	args := []string{workerCallCommand, "--spec=" + c.spec, "--resume=" + c.resume, "--task=" + c.task, fmt.Sprintf("--max-parallel=%d", c.beside)}
	if c.json {
		args = append(args, "--json")
	}
	return append(args, "--", c.run.Dir)
}

// conduct carries the call out, in an engine of its own.
func (c workerCall) conduct(ctx context.Context, sys System) error {
	sys.args = c.args()
	how := c.manner
	how.tasks = newTasksTold(sys, c.run, how.json)
	how.tasks.task = c.task
	return conduct(ctx, sys, how, func(ctx context.Context, st *station, obs engine.Observer, ctl engine.Controls) (engine.Result, error) {
		if c.resume != "" {
			return c.again(ctx, sys, st, obs, ctl)
		}
		plan, diags, err := st.Read(ctx, requestOf(c.run, c.spec))
		switch {
		case ctx.Err() != nil:
			return engine.Result{}, ctx.Err()
		case len(diags) > 0:
			return engine.Result{}, refuse(sys, diags, c.json)
		case err != nil:
			return engine.Result{}, misinformed(err)
		}
		return c.begin(ctx, st, plan, obs, ctl)
	})
}

// begin has the call begin, unless somebody else has one of its tasks.
func (c workerCall) begin(ctx context.Context, st *station, plan *engine.Plan, obs engine.Observer, ctl engine.Controls) (res engine.Result, err error) {
	var ids []string
	for i := range plan.Spec.Jobs {
		ids = append(ids, plan.Spec.Jobs[i].ID)
	}
	release, err := c.run.Claim(ctx, c.spec, ids)
	if err != nil {
		return res, occupied(err)
	}
	release = sync.OnceValue(release)
	defer func() { err = errors.Join(err, release()) }()
	told := obs.Begun
	obs.Begun = func(id, dir string) { _ = release(); told(id, dir) } // its error is that of the end
	return st.Run(ctx, plan, obs, ctl)
}

// occupied is how a command ends whose task somebody else has: nothing was begun.
func occupied(err error) error {
	var busy *worker.BusyError
	if errors.As(err, &busy) {
		return statusError{exitRunning, err}
	}
	return failure(err)
}

// resumeCall goes on with a call, unless somebody else has one of its tasks by now. Others
// are held back until the journal says which tasks are done again.
func resumeCall(ctx context.Context, st *station, run worker.Run, req engine.ResumeRequest, obs engine.Observer, ctl engine.Controls) (res engine.Result, err error) {
	release, err := run.ClaimAgain(ctx, req.Dir, req.RetryFailed)
	if err != nil {
		return res, occupied(err)
	}
	release = sync.OnceValue(release)
	defer func() { err = errors.Join(err, release()) }()
	planned, ask := obs.Planned, ctl.Ask
	obs.Planned = func(p *engine.Plan) { _ = release(); planned(p) } // its error is that of the end
	if ask != nil {
		ctl.Ask = func(ctx context.Context, q engine.Question) engine.Answer { _ = release(); return ask(ctx, q) }
	}
	return st.Resume(ctx, req, obs, ctl)
}

// again does the failed tasks of an earlier call once more.
func (c workerCall) again(ctx context.Context, sys System, st *station, obs engine.Observer, ctl engine.Controls) (engine.Result, error) {
	res, err := resumeCall(ctx, st, c.run, engine.ResumeRequest{Dir: c.resume, RetryFailed: true, Concurrency: c.beside}, obs, ctl)
	var owned *ledger.OwnedError
	switch {
	case errors.Is(err, engine.ErrNothingToResume):
		fmt.Fprintln(sys.Err, "every task of this manifest has succeeded; there is nothing to do again")
		return res, statusError{code: exitOK}
	case errors.As(err, &owned):
		return res, statusError{exitRunning, fmt.Errorf("%w\nwait: orchestrate wait %s", err, c.run.ID)}
	}
	return res, misinformed(err)
}

// tasksOf tells of a run that is a call of the worker form, and is nil for any other.
func tasksOf(sys System, dir string, asJSON bool) (*tasksTold, error) {
	info, err := ledger.Begun(dir)
	if err != nil || info.Worker == "" {
		return nil, err
	}
	run, err := worker.Open(workspaceRoot(sys), sys.Cwd, filepath.Dir(filepath.Dir(dir))) // also where it was moved to
	if err != nil {
		return nil, err
	}
	return newTasksTold(sys, run, asJSON), nil
}
