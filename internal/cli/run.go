package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orchestrate/internal/engine"
	"orchestrate/internal/ui"
	"orchestrate/internal/untrusted"
)

type runOptions struct {
	spec     string
	json     bool
	rehearse bool
	script   string
}

func (o *runOptions) flags(f *pflag.FlagSet) {
	f.BoolVar(&o.json, "json", false, "print the run's records as JSON lines")
}

func newRun(sys System) *cobra.Command {
	opts := runOptions{}
	cmd := &cobra.Command{
		Use:   "run SPEC",
		Short: "Run a job spec: probe, route, dispatch, check, judge, report",
		Long:  "Run a job spec from the first probe to the report.\n\n" + exitTable,
		Args:  exactArgs("SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.spec = args[0]
			return runRun(cmd.Context(), sys, opts)
		},
	}
	opts.flags(cmd.Flags())
	return cmd
}

func newRehearse(sys System) *cobra.Command {
	opts := runOptions{rehearse: true}
	cmd := &cobra.Command{
		Use:   "rehearse SPEC",
		Short: "Run a job spec with a stand-in for every agent",
		Long: `Run a job spec with a stand-in in the place of every agent: no runtime need be
installed and no model is called. Checks and plain programs run for real, unless
the script gives a check's result. What would be blocked live is listed. The
verdict is at best "rehearsal".

The stand-in follows the script given with --script, else SPEC.standin if that
file exists, else it does the least that the spec asks for.

` + exitTable,
		Args: exactArgs("SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.spec = args[0]
			return runRun(cmd.Context(), sys, opts)
		},
	}
	opts.flags(cmd.Flags())
	cmd.Flags().StringVar(&opts.script, "script", "", "what the stand-in does, as a YAML file")
	return cmd
}

func (o runOptions) request(sys System) engine.Request {
	return engine.Request{Spec: o.spec, Cwd: sys.Cwd, Rehearse: o.rehearse, Script: absolute(sys.Cwd, o.script)}
}

func runRun(ctx context.Context, sys System, opts runOptions) (err error) {
	st, err := sys.station()
	if err != nil {
		return err
	}
	defer func() { err = joined(err, st.close()) }()
	ctx, kill, done := stoppable(ctx, sys)
	defer done()
	plan, diags, err := st.Read(ctx, opts.request(sys))
	if ctx.Err() != nil {
		return exit(exitInterrupted)
	}
	if len(diags) > 0 {
		return refuse(sys, diags, opts.json)
	}
	if err != nil {
		return failure(err)
	}
	watch := ui.Printer(ui.NewLines(sys.Err))
	if opts.json {
		watch = ui.NewJSON(sys.Out)
	}
	res, err := st.Run(ctx, plan, engine.Observer{
		Begun: func(id, dir string) {
			fmt.Fprintf(sys.Err, "run %s in %s\n", id, dir)
		},
		Planned: func(p *engine.Plan) { brief(sys.Err, p) },
		Record:  watch.Record,
	}, engine.Controls{Kill: kill})
	if errors.Is(err, context.Canceled) {
		return exit(exitInterrupted) // before anything was started
	}
	if err != nil {
		return failure(err)
	}
	if len(res.NextSteps) > 0 {
		fmt.Fprintf(sys.Err, "next (files are in %s):\n", res.Dir)
	}
	for _, s := range res.NextSteps {
		fmt.Fprintf(sys.Err, "  %s\n", untrusted.Text(s).Line(0))
	}
	if !opts.json {
		if _, err := fmt.Fprint(sys.Out, "\n"+res.Completion); err != nil && res.Exit == exitOK {
			return failure(err) // who reads only this must not take silence for success
		}
	}
	return exit(res.Exit)
}

// stoppable turns interrupts into a polite stop (the first), an end of the grace
// (the second) and an end of this process (the third).
func stoppable(ctx context.Context, sys System) (work context.Context, kill <-chan struct{}, done func()) {
	work, cancel := context.WithCancel(ctx)
	hard := make(chan struct{})
	sig := make(chan os.Signal, 3)
	signal.Notify(sig, stops()...)
	over := make(chan struct{})
	go func() {
		for n := 1; ; n++ {
			select {
			case <-over:
				return
			case <-sig:
			}
			switch n {
			case 1:
				fmt.Fprintln(sys.Err, "stopping: what runs is asked to end (once more: it is killed)")
				cancel()
			case 2:
				fmt.Fprintln(sys.Err, "killing what still runs (once more: exit now)")
				close(hard)
			default:
				os.Exit(exitInterrupted)
			}
		}
	}()
	return work, hard, func() {
		signal.Stop(sig)
		close(over)
		cancel()
	}
}

// joined keeps the status of a command that already ended with one.
func joined(err, more error) error {
	if more == nil {
		return err
	}
	if err == nil {
		return failure(more)
	}
	return errors.Join(err, more)
}
