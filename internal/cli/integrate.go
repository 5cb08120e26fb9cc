package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/integrate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
)

type integrateOptions struct {
	run      string
	jobs     []string
	strategy string
	branch   string
	dryRun   bool
	json     bool
}

func newIntegrate(sys System) *cobra.Command {
	opts := integrateOptions{}
	cmd := &cobra.Command{
		Use:   "integrate RUN",
		Short: "Bring the work of a run that passed onto a branch, once its checks pass there",
		Long: `Show what the jobs of a run changed and which of it cannot be merged, and then bring it
onto the branch that is checked out, or onto a new one. The result is made beside your
checkout and the jobs' checks are run on it; only then does the branch move. A conflict, a
check that fails, a checkout with changes in it, a branch that was switched or moved
meanwhile: all is then as it was. No editor is opened, and no hook, signing program or
other program of the repository's is started.

Only a run with the verdict pass is integrated. Of one that nobody reviewed you are asked
at your terminal, and each commit says so. Called again it goes on where it was cut off,
and leaves out what is there already.
RUN is a run id or the path of a run directory.

Exit status: 0 integrated, or with --dry-run nothing stands against it, or there is nothing
to integrate; 1 refused: a conflict, a failed check, changes in the checkout, or it was
switched or moved meanwhile, or commits that are not the run's would come along; 2 usage
error, such as a job or branch that cannot be; 3 the verdict does not allow it, or a person
has to say yes; 5 the run still goes on; 130 interrupted, nothing was moved.`,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.run = args[0]
			if cmd.Flags().Changed("branch") && opts.branch == "" {
				return usageError(errors.New("--branch has no name: give the new branch's, or leave --branch out to move the branch that is checked out"))
			}
			return runIntegrate(cmd.Context(), sys, opts)
		},
	}
	cmd.Flags().StringArrayVar(&opts.jobs, "job", nil, "integrate only this `ID`; may be given again (default: all that left work)")
	cmd.Flags().StringVar(&opts.strategy, "strategy", integrate.Merge, "in which `WAY` the work arrives: merge, a merge commit with the job's own commit as a parent; or patch, its changes as one commit")
	cmd.Flags().StringVar(&opts.branch, "branch", "", "put it onto this `NEW` branch, which begins at your checkout's commit, and leave the checkout alone")
	cmd.Flags().BoolVar(&opts.dryRun, "dry-run", false, "show and predict, run no checks, and change nothing")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print one JSON document; nobody is asked")
	return cmd
}

// integrateQuestion follows what the engine says of work that nobody reviewed.
const integrateQuestion = "Integrate what nobody has reviewed? [y/N] "

func runIntegrate(ctx context.Context, sys System, opts integrateOptions) (err error) {
	run, err := opts.valid(sys)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, run.Close()) }()
	st, err := sys.station()
	if err != nil {
		return err
	}
	defer func() { err = joined(err, st.close()) }()
	brakes, done := stoppable(ctx, sys)
	defer done()

	view := integrateView{w: sys.Out, run: run}
	ctl := engine.IntegrateControls{
		Show: func(in integrate.Integration) {
			if !opts.json {
				view.work(in)
			}
			if unshown(sys.Out) != nil {
				brakes.polite()
			}
		},
		Ask:  asker(sys, manner{json: opts.json}, integrateQuestion),
		Tell: func(line string) { fmt.Fprintln(sys.Err, untrusted.From(line).Line(0)) },
		Kill: brakes.kill,
	}
	in, code, err := st.Integrate(brakes.work, engine.IntegrateRequest{
		Dir: run.Dir, Jobs: opts.jobs, Strategy: opts.strategy, Branch: opts.branch, DryRun: opts.dryRun,
	}, ctl)
	if err != nil {
		return ended(brakes.work, sys, run, code, err)
	}
	if opts.json {
		err = printJSON(sys.Out, in)
	} else {
		err = view.outcome(in)
	}
	if err != nil {
		return failure(err)
	}
	return exit(code)
}

// valid is the run, if the command line can mean something for it.
func (o integrateOptions) valid(sys System) (*ledger.Run, error) {
	if !slices.Contains([]string{integrate.Merge, integrate.Patch}, o.strategy) {
		return nil, usageError(fmt.Errorf("--strategy %q: it is %s or %s", o.strategy, integrate.Merge, integrate.Patch))
	}
	dir, err := inPlaceOf(sys, o.run, callsToBring)
	if err != nil {
		return nil, err
	}
	run, err := ledger.Open(dir)
	if err != nil {
		return nil, failure(err)
	}
	for _, job := range o.jobs {
		if err := known(run, job); err != nil {
			return nil, joined(err, run.Close())
		}
	}
	return run, nil
}

// ended is the end of an integration that came to no result.
func ended(ctx context.Context, sys System, run *ledger.Run, code int, err error) error {
	var owned *ledger.OwnedError
	lost := unshown(sys.Out)
	switch {
	case lost != nil && errors.Is(err, context.Canceled):
		return failure(fmt.Errorf("what would be integrated could not be shown (%w), so nothing was moved", lost))
	case errors.As(err, &owned) && run.State().Phase == ledger.PhaseEnded:
		return statusError{exitRunning, fmt.Errorf("run %s has ended, but process %d integrates it, cleans up or goes on with it: try again when that is done; nothing was changed", run.ID, owned.Holder.PID)}
	case errors.As(err, &owned):
		return statusError{exitRunning, fmt.Errorf("%w\nwait: orchestrate wait %s", err, run.ID)}
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return statusError{exitInterrupted, fmt.Errorf("interrupted: nothing was moved; again with: orchestrate integrate %s", run.ID)}
	case code == exitOK:
		return failure(err)
	}
	return statusError{code, err}
}

// unshown is why something could not be printed, nil if all was.
func unshown(w io.Writer) error {
	if o, ok := w.(*outlet); ok {
		return o.broken()
	}
	return nil
}
