package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/ledger"
	"orchestrate/internal/process"
	"orchestrate/internal/runtime"
	"orchestrate/internal/ui"
	"orchestrate/internal/untrusted"
)

type cancelOptions struct {
	run  string
	kill bool
}

const (
	// stopLimit is how long a polite stop may take: the grace of what runs, and the
	// report.
	stopLimit = time.Minute
	// politeFirst is the time between the first interrupt and the second: one that
	// comes while another has not been looked at would be lost.
	politeFirst = time.Second
)

func newCancel(sys System) *cobra.Command {
	opts := cancelOptions{}
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "Stop a run and say what was ended and what is kept",
		Long: `Stop a run as an interrupt (Ctrl-C) of it does, wait until it has ended, and say what
was ended, what is kept and where. Also when its engine is gone: what its supervisors
still run is ended. A run that was cancelled can be resumed.
RUN is a run id or the path of a run directory.

Exit status: 0 everything that ran is proven to have ended; 1 something is not;
2 usage error.`,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.run = args[0]
			return runCancel(cmd.Context(), sys, opts)
		},
	}
	cmd.Flags().BoolVar(&opts.kill, "kill", false, "give what runs no grace")
	return cmd
}

func runCancel(ctx context.Context, sys System, opts cancelOptions) (err error) {
	f, err := follow(sys, opts.run)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, f.close()) }()
	ctx, done := unlessInterrupted(ctx)
	defer done()
	how, asked, err := f.interrupt(ctx, opts)
	if err != nil {
		return err
	}
	switch {
	case how == hasEnded && !asked:
		fmt.Fprintf(sys.Out, "run %s had ended already: nothing was stopped\n", f.run.ID)
		return nil
	case how == stillRuns:
		return failure(fmt.Errorf("run %s has not ended yet; look with `orchestrate status %s`, or end it with `orchestrate cancel --kill %s`", f.run.ID, f.run.ID, f.run.ID))
	case how == wasCutOff:
		if err := stopRest(ctx, sys, f.run.Dir, opts.kill); err != nil {
			return err
		}
	}
	return sayCancelled(sys, f.run.Dir)
}

// interrupt asks exactly the engine that the run's lock names to stop, and waits.
func (f *follower) interrupt(ctx context.Context, opts cancelOptions) (how standing, asked bool, err error) {
	now, stop := context.WithCancel(ctx)
	stop()
	quiet := func(ledger.Record) {}
	if how, err = f.until(now, quiet, nil); err != nil || how != stillRuns {
		return how, false, err
	}
	owner, ok, err := ledger.Holder(f.run.Dir)
	if err != nil || !ok {
		how, waitErr := f.within(ctx, politeFirst)
		return how, false, errors.Join(err, waitErr)
	}
	for _, wait := range []time.Duration{politeFirst, stopLimit} {
		if err := owner.Signal(os.Interrupt); err != nil && !errors.Is(err, process.ErrGone) {
			return "", false, failure(fmt.Errorf("the engine of run %s cannot be asked to stop: %w", f.run.ID, err))
		}
		if !opts.kill {
			wait = stopLimit
		}
		if how, err = f.within(ctx, wait); err != nil || how != stillRuns {
			return how, true, err
		}
		if !opts.kill {
			break
		}
	}
	return how, true, nil
}

// within follows the run for a while.
func (f *follower) within(ctx context.Context, limit time.Duration) (standing, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return f.until(ctx, func(ledger.Record) {}, nil)
}

// stopRest ends what the supervisors of a dead engine still run.
func stopRest(ctx context.Context, sys System, dir string, kill bool) (err error) {
	fmt.Fprintln(sys.Err, "its engine is gone; what its supervisors still run is ended")
	st, err := sys.station()
	if err != nil {
		return err
	}
	defer func() { err = joined(err, st.close()) }()
	ctl := engine.Controls{Kill: make(chan struct{}), Leave: make(chan struct{}), Left: func() {}}
	if kill {
		hard := make(chan struct{})
		close(hard)
		ctl.Kill = hard
	}
	obs := engine.Observer{Begun: func(string, string) {}, Planned: func(*engine.Plan) {}, Record: ui.NewLines(sys.Err).Record}
	if _, err := st.Resume(ctx, engine.ResumeRequest{Dir: dir, Stop: true}, obs, ctl); err != nil && !errors.Is(err, engine.ErrNothingToResume) {
		return failure(err)
	}
	return nil
}

// sayCancelled tells what was ended, with proof, and what is kept.
func sayCancelled(sys System, dir string) (err error) {
	run, err := ledger.Open(dir)
	if err != nil {
		return failure(err)
	}
	defer func() { err = joined(err, run.Close()) }()
	state := run.State()
	if state.ExitStatus != nil && *state.ExitStatus != exitInterrupted {
		fmt.Fprintf(sys.Out, "run %s ended by itself before it could be stopped; its result: orchestrate wait %s\n", run.ID, run.ID)
		return nil
	}
	fmt.Fprintf(sys.Out, "run %s was stopped\n", run.ID)
	kept, unproven := 0, 0
	for _, j := range state.Jobs {
		if j.Status == ledger.Success {
			kept++
		}
		if j.Status == ledger.Success || j.Attempt == 0 {
			continue
		}
		line, proven, err := endOf(run, j)
		if err != nil {
			return failure(err)
		}
		if !proven {
			unproven++
		}
		if !proven || j.Status != ledger.Failed { // what had failed before was not ended now
			fmt.Fprintln(sys.Out, line)
		}
	}
	fmt.Fprintf(sys.Out, "kept: what succeeded (%d of %d jobs), and all files in %s\ngo on with: orchestrate resume %s\n", kept, len(state.Jobs), run.Dir, run.ID)
	if unproven > 0 {
		return failure(fmt.Errorf("not proven to have ended: %d of the jobs; look at what is named above", unproven))
	}
	return nil
}

// endOf is the line about a job that ran and did not succeed.
func endOf(run *ledger.Run, j ledger.JobState) (line string, proven bool, err error) {
	all, err := run.Attempts(j.ID)
	switch {
	case err != nil:
		return "", false, err
	case j.Reason == runtime.BlockedTreeUnproven:
		return fmt.Sprintf("  %s: %s", j.ID, untrusted.Text(j.Evidence).Line(0)), false, nil
	case len(all) == 0 || j.Status == ledger.Running:
		return fmt.Sprintf("  %s: nothing says that it has ended; see %s", j.ID, run.JobDir(j.ID)), false, nil
	}
	s := all[len(all)-1]
	line = fmt.Sprintf("  %s: %s", j.ID, s.Status)
	switch {
	case s.Proof == nil:
		line, proven = line+", its program never ran", true
	case s.Proof.Gone:
		line, proven = fmt.Sprintf("%s, its processes are gone (proof: %s)", line, s.Proof.Level), true
	default:
		line += ", its processes are not proven gone; see " + run.Path(ledger.JobPath(j.ID, ledger.ExitFile))
	}
	if s.Worktree == nil {
		return line, proven, nil
	}
	line += "; its work is in " + treePath(run.Dir, *s.Worktree)
	if s.Branch != nil {
		line += " (branch " + *s.Branch + ")"
	}
	return line, proven, nil
}

// treePath is where a worktree is; a status names those in the run directory from
// there.
func treePath(dir, tree string) string {
	if filepath.IsAbs(tree) {
		return tree
	}
	return filepath.Join(dir, filepath.FromSlash(tree))
}
