package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"orchestrate/internal/engine"
	"orchestrate/internal/figure"
	"orchestrate/internal/ledger"
	"orchestrate/internal/shellword"
)

// propose shows the spec as it would be run, and runs it if the person says so, or said
// so before (--yes). Else it is kept.
func (p *planned) propose(ctx context.Context) error {
	preview, err := p.preview(ctx)
	if err != nil {
		return err
	}
	if !p.opts.yes {
		asked, yes := p.ask(ctx, preview)
		switch {
		case !asked:
			return p.keep(preview)
		case !yes:
			fmt.Fprintf(p.sys.Err, "not run; the spec is kept, to be changed or run later: %s\n", p.command())
			return exit(exitBlocked)
		}
	} else if !p.opts.unattended() {
		p.show(forReader(p.sys.Err), preview)
	}
	return p.run(ctx)
}

// preview is the plan of the spec.
func (p *planned) preview(ctx context.Context) (v engine.Preview, err error) {
	st, err := p.sys.station()
	if err != nil {
		return v, err
	}
	defer func() { err = joined(err, st.close()) }()
	brakes, done := stoppable(ctx, p.sys)
	defer done()
	plan, diags, err := st.Plan(brakes.work, p.spec().request(p.sys))
	switch {
	case brakes.work.Err() != nil:
		fmt.Fprintf(p.sys.Err, "stopped before anything was run; the spec is kept: %s\n", p.command())
		return v, exit(exitInterrupted)
	case len(diags) > 0: // the workspace has changed meanwhile
		return v, refuse(p.sys, diags, p.opts.json)
	case err != nil:
		return v, refusedRequest(err)
	}
	return st.Preview(plan), nil
}

// spec are the options of a run of the spec.
func (p *planned) spec() runOptions {
	opts := p.opts
	opts.spec = p.file(ledger.SpecFile)
	return opts
}

// ask shows the plan to the person at the terminal and asks whether to run it.
func (p *planned) ask(ctx context.Context, v engine.Preview) (asked, yes bool) {
	if p.opts.unattended() {
		return false, false
	}
	tty, agent := attended(p.sys)
	if tty == nil {
		if agent != "" {
			fmt.Fprintf(p.sys.Err, "note: %s says that a coding agent runs this command, so nobody is asked here: the user is\n", agent)
		}
		return false, false
	}
	defer tty.Close()
	brakes, done := stoppable(ctx, p.sys)
	defer done()
	p.show(&screen{to: tty}, v)
	if forget(tty) != nil { // what was typed while it was planned is no answer
		return false, false
	}
	return true, agrees(brakes.work, tty, bufio.NewReader(tty), "\nRun this? [y/N] ")
}

// show is what plan shows, and the order of the jobs below it.
func (p *planned) show(w io.Writer, v engine.Preview) {
	showPlan(w, v)
	showOrder(w, v)
}

// keep says where the spec is that nobody could be asked about, and ends as what only a
// person can let go on.
func (p *planned) keep(v engine.Preview) error {
	spec, run := p.file(ledger.SpecFile), p.command()
	var err error
	switch {
	case p.opts.json:
		err = printJSON(p.sys.Out, drafted{
			SchemaVersion: ledger.SchemaVersion, Outcome: ledger.DraftedSpec, RunDir: p.dir,
			Request: p.file(ledger.RequestMDFile), Spec: &spec, Run: &run, Plan: &v,
		})
	case p.opts.brief:
		_, err = fmt.Fprintf(p.sys.Out, "draft spec\nspec %s\njobs %d\nperson whether the spec is run as it stands; `orchestrate plan %s` shows it\nnext person: %s\n", spec, len(v.Jobs), shellword.Join([]string{spec}), run)
	default:
		p.show(forReader(p.sys.Out), v)
	}
	if err != nil {
		return failure(err)
	}
	fmt.Fprintf(p.sys.Err, "nothing was run: a person looks at the spec first, and nobody could be asked here\nspec: %s\nask the user; once they agree: %s\n", spec, run)
	return exit(exitBlocked)
}

// command is what runs the spec later.
func (p *planned) command() string {
	return "orchestrate " + shellword.Join(append(p.flags("run"), p.file(ledger.SpecFile)))
}

// run runs the spec as any other, in a run of its own.
func (p *planned) run(ctx context.Context) error {
	sys, opts := p.sys, p.spec()
	sys.args = append(p.flags("run"), opts.spec)
	if opts.yes {
		sys.args = append(sys.args, "--yes")
	}
	if opts.detach {
		sys.args = append(sys.args, "--detach")
	}
	return runRun(ctx, sys, opts)
}

// showOrder shows what waits for what, a line for all that can begin together.
func showOrder(w io.Writer, v engine.Preview) {
	steps, widest := stepsOf(v.Jobs), 0
	for _, ids := range steps {
		widest = max(widest, len(ids))
	}
	fmt.Fprintf(w, "\nOrder: %s in %s, up to %d beside each other\n", figure.Count(len(v.Jobs), "job"), figure.Count(len(steps), "step"), widest)
	last := "no reviewer: the verdict will be unreviewed"
	if v.Arbiter != nil {
		last = "the arbiter"
	}
	for i, ids := range append(steps, []string{last}) {
		fmt.Fprintf(w, "  %d  %s\n", i+1, strings.Join(ids, ", "))
	}
	fmt.Fprintln(w, "What it costs is not known before it runs; budget in the spec bounds it.")
}

// stepsOf are the jobs by how many come before them one after the other. What they depend
// on is known, and in no circle.
func stepsOf(jobs []engine.JobPreview) (steps [][]string) {
	on := map[string][]string{}
	for _, j := range jobs {
		on[j.ID] = j.DependsOn
	}
	depths := map[string]int{}
	var depth func(id string) int
	depth = func(id string) int {
		if d, ok := depths[id]; ok {
			return d
		}
		d := 0
		for _, before := range on[id] {
			d = max(d, depth(before)+1)
		}
		depths[id] = d
		return d
	}
	for _, j := range jobs {
		d := depth(j.ID)
		for len(steps) <= d {
			steps = append(steps, nil)
		}
		steps[d] = append(steps[d], j.ID)
	}
	return steps
}
