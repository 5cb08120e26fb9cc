package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/process"
	"orchestrate/internal/runtime"
	"orchestrate/internal/ui"
)

type cancelOptions struct {
	run     string
	kill    bool
	timeout time.Duration
}

const (
	// stopLimit is how long a stop may take: the grace of what runs, and the report.
	stopLimit = time.Minute
	// takeovers bounds how often an engine may take the run from before our eyes.
	takeovers = 10
)

func newCancel(sys System) *cobra.Command {
	opts := cancelOptions{}
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "Stop a run and say what was ended and what is kept",
		Long: `Stop a run as one interrupt (Ctrl-C) of it does, wait until it has ended, and say what
was ended, what is kept and where. Also when its engine is gone: what its supervisors
still run is ended. However often it is called, what runs keeps its grace; only --kill
ends that. A run that was cancelled can be resumed.
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
	cmd.Flags().DurationVar(&opts.timeout, "timeout", stopLimit, "how long to wait until it has ended")
	return cmd
}

func runCancel(ctx context.Context, sys System, opts cancelOptions) (err error) {
	f, err := follow(sys, opts.run)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, f.close()) }()
	if f.moved != nil {
		return failure(f.moved)
	}
	asked := false
	for range takeovers {
		how, askedNow, err := f.askToStop(ctx, opts)
		asked = asked || askedNow
		switch {
		case err != nil:
			return err
		case how == hasEnded && !asked:
			fmt.Fprintf(sys.Out, "run %s had ended already: nothing was stopped\n", f.run.ID)
			return nil
		case how == hasEnded:
			return sayCancelled(sys, f.run.Dir)
		case how == stillRuns:
			return notEnded(f.run.Dir, opts)
		}
		var owned *ledger.OwnedError
		err = stopRest(ctx, sys, f.run, opts)
		switch {
		case err == nil:
			return sayCancelled(sys, f.run.Dir)
		case !errors.As(err, &owned):
			return err
		}
		asked = true // another one stops it, and is waited for
	}
	return notEnded(f.run.Dir, opts)
}

// askToStop asks exactly the engine that the run's lock names to stop, and waits.
func (f *follower) askToStop(ctx context.Context, opts cancelOptions) (how standing, asked bool, err error) {
	ctx, done := unlessInterrupted(ctx)
	defer done()
	if how, err = f.within(ctx, 0); err != nil || how != stillRuns {
		return how, false, err
	}
	sig := askStop
	if opts.kill {
		sig = askKill
	}
	owner, ok, err := ledger.Holder(f.run.Dir)
	if err == nil && ok {
		err = owner.Signal(sig)
	}
	switch {
	case err == nil:
		asked = ok
	case !errors.Is(err, process.ErrGone):
		return "", false, failure(fmt.Errorf("the engine of run %s cannot be asked to stop: %w", f.run.ID, err))
	}
	how, err = f.within(ctx, opts.timeout)
	return how, asked, err
}

// within follows the run for a while.
func (f *follower) within(ctx context.Context, limit time.Duration) (standing, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return f.until(ctx, func(ledger.Record) {}, nil)
}

// stopRest ends what the supervisors of a dead engine still run. It has an engine's
// brakes, and leaves, as an engine does, when it takes too long.
func stopRest(ctx context.Context, sys System, run *ledger.Run, opts cancelOptions) (err error) {
	if run.State().Phase == ledger.PhaseAwaiting {
		fmt.Fprintln(sys.Err, "no engine is there, since the run awaits the hosting session; what that has is given up")
	} else {
		fmt.Fprintln(sys.Err, "its engine is gone; what its supervisors still run is ended")
	}
	st, err := sys.station()
	if err != nil {
		return err
	}
	defer func() { err = joined(err, st.close()) }()
	b := newBrakes(ctx, sys)
	b.stopping = true
	b.run.Store(&run.ID)
	if opts.kill {
		b.killing = true
		close(b.kill)
	}
	defer b.listen()()
	leave := make(chan struct{})
	late := time.AfterFunc(opts.timeout, func() { close(leave) })
	defer late.Stop()
	ctl := engine.Controls{Kill: b.kill, Leave: leave, Left: func() {
		fmt.Fprintf(sys.Err, "orchestrate: %v\n", notEnded(run.Dir, opts))
		b.quit(exitFailed)
	}}
	obs := engine.Observer{Begun: func(string, string) {}, Planned: func(*engine.Plan) {}, Record: ui.NewLines(sys.Err).Record}
	if _, err := st.Resume(ctx, engine.ResumeRequest{Dir: run.Dir, Stop: true}, obs, ctl); err != nil && !errors.Is(err, engine.ErrNothingToResume) {
		return failure(err)
	}
	return nil
}

// notEnded says what of a run still runs that was to end.
func notEnded(dir string, opts cancelOptions) error {
	run, err := ledger.Open(dir)
	if err != nil {
		return failure(err)
	}
	defer run.Close() //nolint:errcheck // opened for reading
	text := fmt.Sprintf("run %s has not ended yet", run.ID)
	if under := underWay(run); len(under) > 0 {
		text += "; still running: " + strings.Join(under, ", ")
	}
	text += fmt.Sprintf("; look with `orchestrate status %s`", run.ID)
	if !opts.kill {
		text += fmt.Sprintf(", or end it without grace: `orchestrate cancel --kill %s`", run.ID)
	}
	return failure(errors.New(text))
}

// underWay are the jobs of which something still runs, with their programs. What began
// as an engine died may not have come as far as the journal.
func underWay(run *ledger.Run) (all []string) {
	for _, j := range jobsOf(run.State()) {
		lock, err := run.AttemptLock(j.ID)
		switch {
		case j.Status.Settled() || j.Attempt == 0:
		case err == nil && lock.Unended() && lock.Program != nil:
			all = append(all, fmt.Sprintf("%s (pid %d)", j.ID, lock.Program.PID))
		case err == nil && lock.Unended() || j.Status == ledger.Running:
			all = append(all, j.ID)
		}
	}
	return all
}

// jobsOf are all jobs of a run, the arbiter too if it was asked.
func jobsOf(s ledger.State) []ledger.JobState {
	if s.Arbiter == nil {
		return s.Jobs
	}
	return append(slices.Clone(s.Jobs), *s.Arbiter)
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
	for _, j := range jobsOf(state) {
		if j.Status == ledger.Success && j.ID != ledger.ArbiterJob {
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
	fmt.Fprintf(sys.Out, "kept: what succeeded (%d of %d jobs), and all files in %s\n%s\n", kept, len(state.Jobs), run.Dir, goOnWith(run))
	if unproven > 0 {
		return failure(fmt.Errorf("not proven to have ended: %d of what ran; look at what is named above", unproven))
	}
	return nil
}

// goOnWith is the way on from a run that was stopped.
func goOnWith(run *ledger.Run) string {
	if engine.NoFurther(run) != nil {
		return "what only planned a request is not gone on with: give the request again; its words are in " + run.Path(ledger.DraftDir+"/"+ledger.RequestMDFile)
	}
	return "go on with: orchestrate resume " + run.ID
}

// endOf is the line about a job that ran and did not succeed.
func endOf(run *ledger.Run, j ledger.JobState) (line string, proven bool, err error) {
	all, err := run.Attempts(j.ID)
	switch {
	case err != nil:
		return "", false, err
	case j.Reason == runtime.BlockedTreeUnproven:
		return fmt.Sprintf("  %s: %s", j.ID, j.Evidence.Line(0)), false, nil
	case len(all) == 0 || j.Status == ledger.Running:
		return fmt.Sprintf("  %s: nothing says that it has ended; see %s", j.ID, run.JobDir(j.ID)), false, nil
	}
	s := all[len(all)-1]
	line = fmt.Sprintf("  %s: %s", j.ID, s.Status)
	if j.Status == ledger.Queued && s.Status == ledger.Failed { // that was not ended now
		line = fmt.Sprintf("  %s: waited for another attempt, as attempt %d failed (%s)", j.ID, s.Attempts, s.Reason)
	}
	switch {
	case s.Runtime == handoff.Runtime && s.Proof != nil:
		line, proven, err = endOfSession(run, s, line)
		if err != nil {
			return "", false, err
		}
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

// endOfSession is the end of an attempt that the hosting session had: what that says of it,
// or that it has said nothing.
func endOfSession(run *ledger.Run, s ledger.JobStatus, line string) (string, bool, error) {
	r, there, err := handoff.ReadRequest(run, s.ID)
	if s.Proof.Gone {
		has := false
		if err == nil && there {
			has, err = stillHas(run, s.ID, r)
		}
		if has {
			return line + ", the hosting session still has it, and only observes: end it there, or let it be; what it hands in is refused", true, err
		}
		return line + ", the hosting session has nothing of it", true, err
	}
	if err != nil || !there {
		return line + ", and nothing shows that whoever has it has ended", false, err
	}
	return fmt.Sprintf("%s, and nothing shows that whoever has it has ended; end it there, then say so: orchestrate submit %s %s --attempt %s --failed \"it has ended\"",
		line, run.ID, s.ID, r.Attempt), false, nil
}

// stillHas reports whether somebody of the hosting session took an attempt of which nothing
// has come back. What nobody had taken was closed as it was given up.
func stillHas(run *ledger.Run, job string, r handoff.Request) (bool, error) {
	l, taken, err := handoff.ReadLease(run, job, r.Attempt)
	if err != nil || !taken || !l.Given() {
		return false, err
	}
	_, back, err := handoff.ReadSubmission(run, job, r.Attempt)
	return !back, err
}

// treePath is where a worktree is; a status names those in the run directory from
// there.
func treePath(dir, tree string) string {
	if filepath.IsAbs(tree) {
		return tree
	}
	return filepath.Join(dir, filepath.FromSlash(tree))
}
