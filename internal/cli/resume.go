package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/ledger"
	"orchestrate/internal/ui"
)

type resumeOptions struct {
	manner
	run         string
	retryFailed bool
	yes         bool
	internal    bool
	agents      string
}

func newResume(sys System) *cobra.Command {
	opts := resumeOptions{}
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that was interrupted, cut off or left something undone",
		Long: `Go on with a run. What succeeded is kept, as long as its inputs, its base and what
it left are still the same. What still runs under its supervisor is waited for; what
a dead supervisor left is ended first. Jobs that were interrupted are done again, in
a new worktree; blocked and queued ones are looked at again. Where there is nothing
to do, the result is printed once more; with --detach the run's id, and the rest on
standard error.

Approvals are asked for again, since what was approved before counts only for what
still runs.

Only the run that is named is ever resumed, and only by one engine: while another
carries it on, the exit status is 5. RUN is a run id or the path of a run
directory.

` + briefHelp + "\n" + exitTable,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.run = args[0]
			return runResume(cmd.Context(), sys, opts)
		},
	}
	opts.flags(cmd.Flags())
	cmd.Flags().BoolVar(&opts.retryFailed, "retry-failed", false, "do failed jobs again as well")
	yesFlag(cmd.Flags(), &opts.yes)
	internalFlag(cmd.Flags(), &opts.internal)
	agentsFlag(cmd.Flags(), &opts.agents)
	return cmd
}

func runResume(ctx context.Context, sys System, opts resumeOptions) error {
	if err := briefAlone(opts.brief, map[string]bool{"json": opts.json}); err != nil {
		return err
	}
	dir, err := inPlaceOf(sys, opts.run, unfinishedCalls)
	if err != nil {
		return err
	}
	if sys.agents, err = hosting(sys, opts.agents); err != nil {
		return err
	}
	how := opts.manner
	if how.tasks, err = tasksOf(sys, dir, how.json); err != nil {
		return failure(err)
	}
	return conduct(ctx, sys, how, func(ctx context.Context, st *station, obs engine.Observer, ctl engine.Controls) (engine.Result, error) {
		req := engine.ResumeRequest{Dir: dir, RetryFailed: opts.retryFailed, Internal: opts.internal, Yes: opts.yes, Agents: sys.agents}
		again := st.Resume
		if how.tasks != nil {
			again = func(ctx context.Context, req engine.ResumeRequest, obs engine.Observer, ctl engine.Controls) (engine.Result, error) {
				return resumeCall(ctx, st, how.tasks.run, req, obs, ctl)
			}
		}
		res, err := again(ctx, req, obs, ctl)
		var owned *ledger.OwnedError
		switch {
		case errors.Is(err, engine.ErrNothingToResume):
			opts.run = dir // of a worker run only that call was looked at
			return res, sayAgain(ctx, sys, opts)
		case errors.As(err, &owned):
			return res, statusError{exitRunning, fmt.Errorf("%w\nwait: orchestrate wait %s\nfollow: orchestrate attach %s", err, opts.run, opts.run)}
		}
		return res, misinformed(err)
	})
}

// sayAgain prints the result of a run of which nothing would be done again, and ends
// as that run did; with --detach as soon as it is said which run that is.
func sayAgain(ctx context.Context, sys System, opts resumeOptions) (err error) {
	f, err := follow(sys, opts.run)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, f.close()) }()
	each := func(ledger.Record) {}
	if opts.json && !opts.detach {
		each = ui.NewJSON(sys.Out).Record
	}
	how, err := f.until(ctx, each, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(sys.Err, "run %s has ended and nothing of it would be done again", f.run.ID)
	if !opts.retryFailed {
		fmt.Fprint(sys.Err, " (--retry-failed does what failed again)")
	}
	fmt.Fprintln(sys.Err)
	switch {
	case opts.detach && !opts.brief:
		err = opts.announce(sys, beginning{RunID: f.run.ID, RunDir: f.run.Dir})
		sys.Out = sys.Err
	case opts.json:
		sys.Out = io.Discard // the records tell the result
	}
	switch {
	case err != nil:
	case opts.brief:
		err = f.brief(ctx, sys, how)
	default:
		err = f.conclude(sys, how, false)
	}
	var status statusError
	if err == nil || opts.detach && errors.As(err, &status) && status.err == nil {
		return statusError{code: exitOK}
	}
	return err
}
