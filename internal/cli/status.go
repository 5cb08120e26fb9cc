package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/figure"
	"orchestrate/internal/ledger"
	"orchestrate/internal/ui"
	"orchestrate/internal/untrusted"
)

type statusOptions struct {
	run   string
	json  bool
	watch bool
	brief bool
	plain bool
}

func newStatus(sys System) *cobra.Command {
	opts := statusOptions{}
	cmd := &cobra.Command{
		Use:   "status RUN",
		Short: "Show where the jobs of a run stand",
		Long: `Show where the jobs of a run stand, from its journal: while it runs, at most a
quarter of a second behind. With --watch go on until the run ends: on a terminal as
a view of its jobs, elsewhere as a line per change.
Of a worker run (orchestrate new-run) all its tasks are shown: state, exit code, time,
session and how the answer begins; --watch and --brief are about its one call that goes on.
RUN is a run id or the path of a run directory, or of a worker run.

` + briefHelp,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.run = args[0]
			if err := briefAlone(opts.brief, map[string]bool{"json": opts.json, "watch": opts.watch}); err != nil {
				return err
			}
			if opts.watch && opts.json {
				return usageError(errors.New("status --watch is for people; a program uses `orchestrate attach --json` or `orchestrate wait --json`"))
			}
			switch {
			case opts.watch:
				return watchStatus(cmd.Context(), sys, opts)
			case opts.brief:
				return briefStatus(cmd.Context(), sys, opts.run)
			}
			return runStatus(sys, opts)
		},
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON, as in state.json")
	cmd.Flags().BoolVar(&opts.watch, "watch", false, "go on until the run ends")
	briefFlag(cmd.Flags(), &opts.brief)
	colourFlag(cmd.Flags(), &opts.plain)
	return cmd
}

func runStatus(sys System, opts statusOptions) (err error) {
	switch run, is, err := workerRun(sys, opts.run); {
	case err != nil:
		return err
	case is:
		return workerStatus(sys, run, opts.json)
	}
	dir, err := findRun(sys, opts.run)
	if err != nil {
		return err
	}
	moved, err := displaced(dir)
	if err != nil {
		return failure(err)
	}
	owned, err := ledger.Owned(dir) // asked first: its last words are read after
	if err != nil {
		return failure(err)
	}
	run, err := ledger.Open(dir)
	if err != nil {
		return failure(err)
	}
	defer func() { err = joined(err, run.Close()) }()
	state := run.State()
	note := sys.Out
	if opts.json {
		note, err = sys.Err, json.NewEncoder(sys.Out).Encode(state)
	} else {
		err = showState(sys.Out, state, decidedIn(run))
	}
	switch {
	case err != nil:
		return failure(err)
	case moved != nil && state.Phase != ledger.PhaseEnded:
		fmt.Fprintln(note, moved)
	case !owned && !opts.json && state.Phase != ledger.PhaseEnded && state.Phase != ledger.PhaseAwaiting:
		sayCutOff(note, run)
	case !opts.json && state.Phase != ledger.PhaseEnded:
		return errors.Join(sayWork(note, run, state), sayAway(note, run, run.ID, sys.Now()))
	case !opts.json:
		return sayWork(note, run, state)
	}
	return nil
}

// watchStatus shows the run until it has ended.
func watchStatus(ctx context.Context, sys System, opts statusOptions) (err error) {
	f, err := follow(sys, opts.run)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, f.close()) }()
	ctx, done := unlessInterrupted(ctx)
	defer done()
	ctx, over := context.WithCancel(ctx)
	defer over()
	var how standing
	if o := f.onlooker(sys, sys.Out, opts.plain, over); o != nil {
		how, err = f.watched(ctx, o, sys.Out)
	} else {
		how, err = f.until(ctx, ui.NewLines(sys.Out).Record, whileWritten(sys.Out, over))
	}
	switch {
	case err != nil:
		return err
	case how == wasCutOff:
		return f.cutOff(sys.Out)
	case how == hasParked:
		return f.awaits(sys.Out, sys.Now())
	case how == stillRuns:
		return f.goesOn(sys.Err)
	}
	return nil
}

// terminal reports whether somebody looks at a screen there.
func terminal(w io.Writer) bool {
	if o, ok := w.(*outlet); ok {
		w = o.to
	}
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// decidedIn gives what a job of the run came to that gathers others' results, "" = nothing.
func decidedIn(run *ledger.Run) func(id string) (string, error) {
	return func(id string) (string, error) {
		var s ledger.JobStatus
		_, err := run.ReadJSON(ledger.JobPath(id, ledger.StatusFile), &s)
		return untrusted.From(s.Decided).Line(0), err
	}
}

func showState(out io.Writer, s ledger.State, decided func(id string) (string, error)) error {
	fmt.Fprintf(out, "run %s: %s", s.RunID, s.Phase)
	if s.Verdict != "" {
		fmt.Fprintf(out, ", verdict %s", s.Verdict)
	}
	if !s.Stopping.Empty() {
		fmt.Fprintf(out, ", %s", s.Stopping.Line(0))
	}
	fmt.Fprintln(out)
	for _, a := range s.Approvals {
		if a.By == "flag" {
			fmt.Fprintf(out, "job %s (%s) was approved by a flag, without being shown\n", a.Job, a.Effect)
		}
	}
	for _, p := range s.Paused {
		fmt.Fprintf(out, "%s gets no new jobs %s (%s)\n", p.Runtime, whileHeld(p), p.Reason)
	}
	if !s.Budget.Empty() {
		fmt.Fprintf(out, "budget: %s\n", s.Budget.Line(0))
	}
	t := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "JOB\tSTATUS\tATTEMPT\tRUNTIME\tMODEL\tWHY")
	unneeded := 0
	for _, j := range jobsOf(s) {
		if j.Status == ledger.Skipped {
			unneeded++
			continue
		}
		why := string(j.Reason)
		if j.Status == ledger.Success && j.Attempt == 0 { // nobody did it: it gathers
			var err error
			if why, err = decided(j.ID); err != nil {
				return err
			}
		}
		if !j.Evidence.Empty() {
			why += ": " + j.Evidence.Line(120)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\n", j.ID, j.Status, j.Attempt, orDash(j.Runtime), show(j.Model), orDash(why))
	}
	err := t.Flush()
	if unneeded > 0 {
		fmt.Fprintf(out, "besides, %s not needed\n", figure.Count(unneeded, "job"))
	}
	return err
}

// whileHeld says for how long a runtime is held back.
func whileHeld(p ledger.Paused) string {
	const shape = "2006-01-02 15:04:05 MST"
	switch {
	case p.Until != nil:
		return "until " + p.Until.Local().Format(shape)
	case p.Resets != nil:
		return "in this run; its quota is back at " + p.Resets.Local().Format(shape)
	}
	return "in this run; when its quota is back it did not say"
}

// sayCutOff tells of a run that has not ended and that nobody carries on.
func sayCutOff(w io.Writer, run *ledger.Run) {
	if err := engine.NoFurther(run); err != nil {
		fmt.Fprintf(w, "its engine is gone, so it was cut off: %v\n", err)
		return
	}
	fmt.Fprintf(w, "its engine is gone, so run %s was cut off; what it left is in %s; go on with: orchestrate resume %s\n", run.ID, run.Dir, run.ID)
}
