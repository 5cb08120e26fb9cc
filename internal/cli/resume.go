package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/ledger"
)

type resumeOptions struct {
	manner
	run         string
	retryFailed bool
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
to do, the result is printed once more.

Only the run that is named is ever resumed. RUN is a run id or the path of a run
directory.

` + exitTable,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.run = args[0]
			return runResume(cmd.Context(), sys, opts)
		},
	}
	opts.flags(cmd.Flags())
	cmd.Flags().BoolVar(&opts.retryFailed, "retry-failed", false, "do failed jobs again as well")
	return cmd
}

func runResume(ctx context.Context, sys System, opts resumeOptions) error {
	dir, err := ledger.Find(workspaceRoot(sys), opts.run)
	if err != nil {
		return usageError(err)
	}
	return conduct(ctx, sys, opts.manner, func(ctx context.Context, st *station, obs engine.Observer, ctl engine.Controls) (engine.Result, error) {
		res, err := st.Resume(ctx, engine.ResumeRequest{Dir: dir, RetryFailed: opts.retryFailed}, obs, ctl)
		if errors.Is(err, engine.ErrNothingToResume) {
			return res, sayAgain(ctx, sys, opts)
		}
		return res, err
	})
}

// sayAgain prints the result of a run of which nothing would be done again, and ends
// as that run did.
func sayAgain(ctx context.Context, sys System, opts resumeOptions) (err error) {
	f, err := follow(sys, opts.run)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, f.close()) }()
	how, err := f.until(ctx, func(ledger.Record) {}, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(sys.Err, "run %s has ended and nothing of it would be done again", f.run.ID)
	if !opts.retryFailed {
		fmt.Fprint(sys.Err, " (--retry-failed does what failed again)")
	}
	fmt.Fprintln(sys.Err)
	if err := f.conclude(sys, how, opts.json); err != nil {
		return err
	}
	return statusError{code: exitOK}
}
