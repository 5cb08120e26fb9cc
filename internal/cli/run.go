package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orchestrate/internal/engine"
	"orchestrate/internal/ledger"
)

// manner is how a person wants to be told of a run.
type manner struct {
	json   bool
	detach bool
	brief  bool // a few lines, for an agent
	plain  bool // without colours

	planning bool // a request is planned: whoever started that tells what came of it

	tasks *tasksTold // of a call of the worker form; nil = a run of a spec
}

func (m *manner) flags(f *pflag.FlagSet) {
	f.BoolVar(&m.json, "json", false, "print the run's records as JSON lines; with --detach one object that says where the run is")
	f.BoolVar(&m.detach, "detach", false, "print the run's id and return while the run goes on")
	briefFlag(f, &m.brief)
	colourFlag(f, &m.plain)
}

// colourFlag leaves colours out of a live view, as the variable NO_COLOR does.
func colourFlag(f *pflag.FlagSet, plain *bool) {
	f.BoolVar(plain, "no-color", false, "show no colours")
}

// internalFlag lets the agents of the hosting session be considered for jobs that name
// no runtime.
func internalFlag(f *pflag.FlagSet, to *bool) {
	f.BoolVar(to, "internal", false, "let jobs that name no runtime go to the hosting session's own agents first, as --agents tells of them")
}

// yesFlag gives every approval that the spec asks for.
func yesFlag(f *pflag.FlagSet, to *bool) {
	f.BoolVar(to, "yes", false, "approve what the spec says of jobs that need an approval, without being asked; for a spec that you wrote")
}

type runOptions struct {
	manner
	yes      bool
	internal bool
	agents   string
	spec     string
	rehearse bool
	script   string
}

func newRun(sys System) *cobra.Command {
	opts := runOptions{}
	cmd := &cobra.Command{
		Use:   "run SPEC",
		Short: "Run a job spec: probe, route, dispatch, check, judge, report",
		Long: `Run a job spec from the first probe to the report.

The run is carried on by a process of its own (its engine). It goes on when this
command, its terminal or whoever called it is killed; the first lines on standard
error say under which id, and how to wait for it. An interrupt (Ctrl-C) stops what
runs politely, a second one kills it, a third ends the engine at once; a run that
was stopped can be resumed.

At a terminal, and where nothing that a runtime named in the spec says shows whether it
is signed in, it asks first whether to make one small model call that does. A job that
needs an approval (effects outside, credentials, or approval: require) is shown there
and asked about before anything is dispatched; only y or yes approves it, exactly as it
is. Where nobody can be asked (no terminal, --json, --brief, --detach) such a job is
blocked.

` + briefHelp + "\n" + exitTable,
		Args: exactArgs("SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.spec = args[0]
			return runRun(cmd.Context(), sys, opts)
		},
	}
	opts.flags(cmd.Flags())
	yesFlag(cmd.Flags(), &opts.yes)
	internalFlag(cmd.Flags(), &opts.internal)
	agentsFlag(cmd.Flags(), &opts.agents)
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
	return engine.Request{Spec: o.spec, Cwd: sys.Cwd, Rehearse: o.rehearse, Script: absolute(sys.Cwd, o.script), Internal: o.internal, Yes: o.yes, Agents: sys.agents}
}

func runRun(ctx context.Context, sys System, opts runOptions) error {
	if err := briefAlone(opts.brief, map[string]bool{"json": opts.json}); err != nil {
		return err
	}
	var err error
	if sys.agents, err = hosting(sys, opts.agents); err != nil {
		return err
	}
	if sys.engine == nil {
		if sys.known, err = offer(ctx, sys, opts); err != nil {
			return err
		}
	}
	return conduct(ctx, sys, opts.manner, func(ctx context.Context, st *station, obs engine.Observer, ctl engine.Controls) (engine.Result, error) {
		plan, diags, err := st.Read(ctx, opts.request(sys))
		switch {
		case ctx.Err() != nil:
			return engine.Result{}, ctx.Err()
		case len(diags) > 0:
			return engine.Result{}, refuse(sys, diags, opts.json)
		case err != nil:
			return engine.Result{}, misinformed(err)
		}
		res, err := st.Run(ctx, plan, obs, ctl)
		return res, placeless(plan.Root, err)
	})
}

// placeless says what a person can do where no run directory can be made.
func placeless(root string, err error) error {
	var place *fs.PathError
	reports := filepath.Join(root, filepath.FromSlash(ledger.ReportsDir))
	if !errors.As(err, &place) || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	if !filepath.IsAbs(place.Path) || !strings.HasPrefix(reports, place.Path) && filepath.Dir(place.Path) != reports {
		return err
	}
	return fmt.Errorf("%w; a run is kept in %s: make that writable, or work in a copy of %s that is", err, reports, root)
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
