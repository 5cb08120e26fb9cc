package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
	"orchestrate/internal/ui"
	"orchestrate/internal/untrusted"
)

type waitOptions struct {
	run     string
	timeout time.Duration
	json    bool
	brief   bool
}

// waitDefault is shorter than the minute or two after which callers give up on a
// command.
const waitDefault = 50 * time.Second

func newWait(sys System) *cobra.Command {
	opts := waitOptions{}
	cmd := &cobra.Command{
		Use:   "wait RUN",
		Short: "Wait for a run to end and end as it did",
		Long: `Wait until a run has ended, print its result and return its exit status. A run
that still goes on after the timeout is exit status 5: wait again. One that has a job
for the hosting session which nobody has taken is 4, at once: orchestrate next takes it.
One whose engine is gone is 130; nobody carries it on before it is resumed.
RUN is a run id or the path of a run directory.

` + briefHelp + "\n" + exitTable,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.run = args[0]
			return runWait(cmd.Context(), sys, opts)
		},
	}
	cmd.Flags().DurationVar(&opts.timeout, "timeout", waitDefault, "how long to wait; 0 only looks")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON, as in state.json, whether or not the run has ended")
	briefFlag(cmd.Flags(), &opts.brief)
	return cmd
}

func runWait(ctx context.Context, sys System, opts waitOptions) (err error) {
	if err := briefAlone(opts.brief, map[string]bool{"json": opts.json}); err != nil {
		return err
	}
	f, err := follow(sys, opts.run)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, f.close()) }()
	waiting, done := unlessInterrupted(ctx)
	defer done()
	waiting, cancel := context.WithTimeout(waiting, opts.timeout)
	defer cancel()
	how, err := f.untilWanted(waiting, sys.Now)
	switch {
	case err != nil:
		return err
	case opts.brief:
		return f.brief(ctx, sys, how)
	}
	return f.conclude(sys, how, opts.json)
}

// untilWanted is until, and ends as well when there is a job for the hosting session that
// it could take.
func (f *follower) untilWanted(ctx context.Context, now func() time.Time) (standing, error) {
	ctx, found := context.WithCancel(ctx)
	defer found()
	w := wanting{look: true}
	how, err := f.until(ctx, func(r ledger.Record) { w.look = w.look || r.Kind == ledger.KindAwaiting }, func() {
		if f.ended || f.parked || w.yes {
			return
		}
		if w.again(f.run.Dir, now()); w.yes || w.err != nil {
			found()
		}
	})
	switch {
	case err == nil && w.err != nil:
		return "", failure(w.err)
	case how == stillRuns && w.yes:
		f.exit = exitAwaiting
		return isWanted, err
	}
	return how, err
}

// wanting looks for a job that the hosting session could take.
type wanting struct {
	look bool      // something was handed out
	at   time.Time // when the next lease ends, zero = none does
	yes  bool
	err  error
}

func (w *wanting) again(dir string, now time.Time) {
	if !w.look && (w.at.IsZero() || now.Before(w.at)) {
		return
	}
	w.look = false
	run, err := ledger.Open(dir) // as it stands now
	if err != nil {
		w.err = err
		return
	}
	away, err := handoff.Look(run)
	w.err = errors.Join(err, run.Close())
	w.at = handoff.Earliest(away, now)
	w.yes = slices.ContainsFunc(away, func(a handoff.Away) bool { return a.Wanted(now) })
}

func newAttach(sys System) *cobra.Command {
	var asJSON, plain bool
	cmd := &cobra.Command{
		Use:   "attach RUN",
		Short: "Follow a run as the command that started it would",
		Long: `Show what has happened in a run and then what happens, until it ends, and return its
exit status: a live run on a terminal as a view of its jobs, else a line per change. An
interrupt, or q in the view, ends only this command: the run goes on.
RUN is a run id or the path of a run directory.

` + exitTable,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAttach(cmd.Context(), sys, args[0], asJSON, plain)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the run's records as JSON lines")
	colourFlag(cmd.Flags(), &plain)
	return cmd
}

func runAttach(ctx context.Context, sys System, arg string, asJSON, plain bool) (err error) {
	f, err := follow(sys, arg)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, f.close()) }()
	ctx, done := unlessInterrupted(ctx)
	defer done()
	ctx, over := context.WithCancel(ctx)
	defer over()
	if f.moved == nil {
		sayBegun(sys, f.run.ID, f.run.Dir)
	}
	var how standing
	if o := f.onlooker(sys, sys.Err, plain, over); o != nil && !asJSON {
		how, err = f.watched(ctx, o, sys.Err)
	} else {
		printer, written := ui.Printer(ui.NewLines(sys.Err)), func() {}
		if asJSON {
			printer, written = ui.NewJSON(sys.Out), whileWritten(sys.Out, over)
		}
		how, err = f.until(ctx, printer.Record, written)
	}
	if err != nil {
		return err
	}
	if asJSON {
		if o, ok := sys.Out.(*outlet); ok && o.broken() != nil {
			return failure(o.broken())
		}
		sys.Out = io.Discard // the records tell the result
	}
	return f.conclude(sys, how, false)
}

// where says in a line how far a run is.
func where(s ledger.State) string {
	done, under, away := 0, []string{}, []string{}
	for _, j := range s.Jobs {
		switch {
		case j.Status.Settled():
			done++
		case j.Status == ledger.Running:
			under = append(under, j.ID)
		case j.Status == ledger.Awaiting:
			away = append(away, j.ID)
		}
	}
	phase := s.Phase
	if !s.Stopping.Empty() {
		phase = report.Stopping
	}
	text := fmt.Sprintf("run %s is %s: %d of %d jobs are over", s.RunID, phase, done, len(s.Jobs))
	if len(under) > 0 {
		text += "; running: " + untrusted.From(strings.Join(under, ", ")).Line(160)
	}
	if len(away) > 0 {
		text += "; with the hosting session: " + untrusted.From(strings.Join(away, ", ")).Line(160)
	}
	return text
}

// mostNeeds bounds what is said to need a person, so that the result is on the screen.
const mostNeeds = 10

// printResult prints the block that ends a run, and to a person what needs one.
func (f *follower) printResult(sys System) error {
	if is, err := f.printTasks(sys); is || err != nil {
		return err
	}
	data, err := f.run.ReadFile(ledger.ReportJSONFile)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(sys.Err, "the run has ended without a report; orchestrate status %s shows its jobs\n", f.name())
		return nil
	}
	var rep report.Report
	if err == nil {
		err = json.Unmarshal(data, &rep)
	}
	if err != nil {
		return failure(fmt.Errorf("%s: %w", f.run.Path(ledger.ReportJSONFile), err))
	}
	brought, err := engine.Brought(f.run)
	if err != nil {
		return failure(err)
	}
	needs := rep.StillNeeds(brought)
	for i, text := range needs {
		if i == mostNeeds {
			fmt.Fprintf(sys.Err, "needs a person: and %d more: orchestrate report %s\n", len(needs)-i, f.name())
			break
		}
		fmt.Fprintf(sys.Err, "needs a person: %s\n", untrusted.From(text).Line(0))
	}
	if _, err := fmt.Fprint(sys.Out, rep.Completion()); err != nil {
		return failure(err)
	}
	return nil
}
