package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/inventory"
	"orchestrate/internal/runtime"
)

type planOptions struct {
	spec     string
	json     bool
	internal bool
	agents   string
}

func newPlan(sys System) *cobra.Command {
	opts := planOptions{}
	cmd := &cobra.Command{
		Use:   "plan SPEC",
		Short: "Validate, probe and route a job spec, and dispatch nothing",
		Long:  "Validate, probe and route a job spec and show what would happen. Nothing is\ndispatched and no model is called.\n\nExit status: 0 every job has a route; 2 usage or spec error; 3 something is blocked.",
		Args:  exactArgs("SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.spec = args[0]
			return runPlan(cmd.Context(), sys, opts)
		},
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	internalFlag(cmd.Flags(), &opts.internal)
	agentsFlag(cmd.Flags(), &opts.agents)
	return cmd
}

func runPlan(ctx context.Context, sys System, opts planOptions) error {
	agents, err := hosting(sys, opts.agents)
	if err != nil {
		return err
	}
	return showPlanned(ctx, sys, engine.Request{Spec: opts.spec, Cwd: sys.Cwd, Internal: opts.internal, Agents: agents}, opts.json)
}

// showPlanned plans what is asked for, shows it, and says whether all of it could go.
func showPlanned(ctx context.Context, sys System, req engine.Request, asJSON bool) (err error) {
	st, err := sys.station()
	if err != nil {
		return err
	}
	defer func() { err = joined(err, st.close()) }()
	brakes, done := stoppable(ctx, sys)
	ctx = brakes.work
	defer done()
	plan, diags, err := st.Plan(ctx, req)
	if ctx.Err() != nil {
		return exit(exitInterrupted)
	}
	if len(diags) > 0 {
		return refuse(sys, diags, asJSON)
	}
	var status statusError
	if err = misinformed(err); err != nil && !errors.As(err, &status) {
		return failure(err)
	}
	if err != nil {
		return err
	}
	preview := st.Preview(plan)
	if asJSON {
		if err := printJSON(sys.Out, preview); err != nil {
			return err
		}
	} else {
		showPlan(forReader(sys.Out), preview)
	}
	if preview.Blocked {
		return exit(exitBlocked)
	}
	return nil
}

// brief says before a run what a person should know of its plan, beside the notes
// that the run records itself.
func brief(w io.Writer, p *engine.Plan) {
	for _, d := range p.Spec.Warning {
		fmt.Fprintf(w, "warning: %s: %s\n", d.Field, d.Message)
	}
	for _, d := range p.Spec.Advice {
		fmt.Fprintf(w, "advice: %s\n", d.Message)
	}
	for _, text := range append(p.Blocks(), p.LiveBlocks()...) {
		fmt.Fprintln(w, text)
	}
}

func showPlan(w io.Writer, p engine.Preview) {
	fmt.Fprintf(w, "Spec %s\nWorkspace %s, base %s\n", p.Spec, p.Root, orDash(p.Base))
	for _, n := range p.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	absent := inventory.Inventory{Profiles: p.Runtimes}.Absent()
	for _, f := range families(p.Jobs) {
		f.show(w, absent)
	}
	if p.Arbiter != nil {
		showJob(w, *p.Arbiter, absent)
	}
}

func showJob(w io.Writer, j engine.JobPreview, absent []string) {
	v := view{w}
	if j.Pattern != nil && j.Pattern.Gathers {
		fmt.Fprintf(w, "\n%s  (made by the engine)\n", j.ID)
		v.line("after", fewOf(j.DependsOn))
		v.inPattern(j)
		return
	}
	fmt.Fprintf(w, "\n%s  (%s, floor %s, %s: %s)\n", j.ID, j.Task, orDash(j.Route.CapabilityFloor), j.Route.Risk, j.Route.RiskWhy)
	v.line("after", fewOf(j.DependsOn))
	v.inPattern(j)
	if j.Blocked != nil {
		v.line("BLOCKED", string(j.Blocked.Reason)+": "+j.Blocked.Detail)
		v.line("next", j.Blocked.NextStep)
	}
	if j.Blocked == nil || j.Blocked.Reason == runtime.BlockedApproval {
		v.route(j.Route)
		v.line("effects", j.SideEffects)
		v.worktree(j.Worktree)
		v.reach(j.Reach)
	}
	v.candidates(j.Route, absent)
	if j.Prompt != "" {
		fmt.Fprintf(w, "  prompt\n%s\n", indent(shownPrompt(j.Prompt), "    | "))
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by)
}

func absolute(cwd, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(cwd, path)
}
