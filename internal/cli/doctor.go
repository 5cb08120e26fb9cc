package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrate/internal/inventory"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
)

type doctorOptions struct {
	names   []string // of the runtimes to ask; none = all
	json    bool
	agents  string
	smoke   string
	timeout time.Duration // of the smoke call
}

func newDoctor(sys System) *cobra.Command {
	opts := doctorOptions{}
	cmd := &cobra.Command{
		Use:   "doctor [RUNTIME…]",
		Short: "Ask every known runtime what it is and what it can prove",
		Long: `Ask every known runtime, or those that are named, what it is and what it can prove,
live. Nothing is installed, signed in or updated, and no model is called. Then it says
what this machine can enforce, shown by a program that tries to get out of the sandbox
of the engine, and what no sandbox of files holds: sockets of daemons and of agents for
keys. Those are looked for, and not used.

With --smoke one runtime also gets one real call of its model, in the way in which a
job would get it: a fixed small prompt, nothing to write, in an empty folder. It
costs what such a call costs.

` + agentsHelp + `

Exit status: 0 if a coding agent can take jobs, or one of the runtimes named can;
with --smoke 0 if the call was answered; else 1.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.names = args
			return runDoctor(cmd.Context(), sys, opts)
		},
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print the profiles with all evidence as JSON")
	agentsFlag(cmd.Flags(), &opts.agents)
	cmd.Flags().StringVar(&opts.smoke, "smoke", "", "make one real model call through `RUNTIME`")
	cmd.Flags().DurationVar(&opts.timeout, "timeout", 2*time.Minute, "the most that the smoke call may take")
	return cmd
}

// examination is what doctor prints as JSON.
type examination struct {
	inventory.Inventory
	Host  thisHost `json:"host"`
	Smoke *smoked  `json:"smoke,omitempty"`
}

func runDoctor(ctx context.Context, sys System, opts doctorOptions) (err error) {
	if opts.timeout <= 0 {
		return usageError(fmt.Errorf("--timeout is %s; give the smoke call some time", opts.timeout))
	}
	agents, err := hosting(sys, opts.agents)
	if err != nil {
		return err
	}
	st, err := sys.station()
	if err != nil {
		return err
	}
	defer func() { err = joined(err, st.close()) }()
	asked, err := opts.adapters(st.Adapters)
	if err != nil {
		return usageError(err)
	}
	brakes, done := stoppable(ctx, sys)
	ctx = brakes.work
	defer done()
	sayAsking(sys)
	level := st.testing(ctx)
	inv := inventory.Probe(ctx, st.host, asked)
	if agents != nil {
		inv.Profiles = append(inv.Profiles, agents.Profile(sys.Now()))
	}
	found := examination{Inventory: judged(inv, st.Operator)}
	found.Host = st.surroundings(<-level, found.Inventory)
	if opts.smoke != "" && ctx.Err() == nil {
		found.smoke(ctx, sys, st, opts)
	}
	if ctx.Err() != nil {
		return exit(exitInterrupted)
	}
	return found.show(sys, st, opts)
}

// sayAsking tells a person what is waited for.
func sayAsking(sys System) {
	if terminal(sys.Err) {
		fmt.Fprintln(sys.Err, "asking the runtimes of this machine what they are; no model is called")
	}
}

func judged(inv inventory.Inventory, op policy.Operator) inventory.Inventory {
	for i, p := range inv.Profiles {
		inv.Profiles[i] = policy.Judged(p, op)
	}
	return inv
}

// adapters are those of the runtimes to ask.
func (o doctorOptions) adapters(known []runtime.Adapter) (asked []runtime.Adapter, err error) {
	names := o.names
	if o.smoke != "" {
		names = append(slices.Clone(names), o.smoke)
	}
	if len(names) == 0 {
		return known, nil
	}
	for _, name := range names {
		if !slices.ContainsFunc(known, func(a runtime.Adapter) bool { return a.Name() == name }) {
			return nil, unknownRuntime(name, known)
		}
	}
	for _, a := range known {
		if slices.Contains(names, a.Name()) {
			asked = append(asked, a)
		}
	}
	return asked, nil
}

// unknownRuntime says which names there are, or which was probably meant.
func unknownRuntime(name string, known []runtime.Adapter) error {
	words := &cobra.Command{SuggestionsMinimumDistance: 2}
	var names []string
	for _, a := range known {
		names = append(names, a.Name())
		words.AddCommand(&cobra.Command{Use: a.Name(), Run: func(*cobra.Command, []string) {}})
	}
	if near := words.SuggestionsFor(name); len(near) > 0 {
		return fmt.Errorf("no runtime is called %q; did you mean %s?", name, strings.Join(near, " or "))
	}
	return fmt.Errorf("no runtime is called %q; there are: %s", name, strings.Join(names, ", "))
}

// smoke makes the call and keeps what it showed in the profile.
func (e *examination) smoke(ctx context.Context, sys System, st *station, opts doctorOptions) {
	i := slices.IndexFunc(e.Profiles, func(p runtime.Profile) bool { return p.Runtime == opts.smoke })
	s := smokeCall(ctx, sys, st, e.Profiles[i], opts.timeout)
	e.Smoke, e.Profiles[i] = &s, policy.Judged(s.profile(e.Profiles[i]), st.Operator)
}

func (e *examination) show(sys System, st *station, opts doctorOptions) error {
	if opts.json {
		if err := printJSON(sys.Out, e); err != nil {
			return err
		}
	} else {
		showInventory(sys.Out, e.Inventory, len(opts.names) > 0 || opts.smoke != "")
		e.showSession(sys.Out, st.Operator)
		e.Host.show(sys.Out)
		if e.Smoke != nil {
			e.Smoke.show(sys.Out)
		}
	}
	good := slices.ContainsFunc(e.Profiles, usableAgent)
	switch {
	case e.Smoke != nil:
		good = e.Smoke.answered()
	case len(opts.names) > 0:
		good = slices.ContainsFunc(e.Profiles, runtime.Profile.Routable)
	}
	if !good {
		return exit(exitFailed)
	}
	return nil
}

func usableAgent(p runtime.Profile) bool { return p.Kind == runtime.KindCLI && p.Routable() }
