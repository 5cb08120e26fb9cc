package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"orchestrate/internal/inventory"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

func newDoctor(sys System) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Ask every known runtime what it is and what it can prove",
		Long:  "Ask every known runtime, live, what it is and what it can prove. Nothing is\ninstalled, signed in or updated, and no model is called.\n\nExit status: 0 if a coding agent can take jobs, else 1.",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDoctor(cmd.Context(), sys, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the profiles with all evidence as JSON")
	return cmd
}

func runDoctor(ctx context.Context, sys System, asJSON bool) (err error) {
	st, err := sys.station()
	if err != nil {
		return err
	}
	defer func() { err = joined(err, st.close()) }()
	brakes, done := stoppable(ctx, sys)
	ctx = brakes.work
	defer done()
	inv := inventory.Probe(ctx, st.host, st.Adapters)
	if ctx.Err() != nil {
		return exit(exitInterrupted)
	}
	for i, p := range inv.Profiles {
		inv.Profiles[i] = policy.Judged(p, st.Operator)
	}
	if asJSON {
		if err := printJSON(sys.Out, inv); err != nil {
			return err
		}
	} else {
		showInventory(sys.Out, inv)
	}
	if !slices.ContainsFunc(inv.Profiles, usableAgent) {
		return exit(exitFailed)
	}
	return nil
}

func usableAgent(p runtime.Profile) bool { return p.Kind == runtime.KindCLI && p.Routable() }

func showInventory(w io.Writer, inv inventory.Inventory) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "RUNTIME\tSTATE\tVERSION\tDEFAULT MODEL\tMODELS\tCAPABILITY\tCONTROLS")
	for _, p := range inv.Profiles {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", p.Runtime, p.State, show(p.Version), show(p.DefaultModel),
			len(p.Models), show(p.Capability), show(strings.Join(controlNames(p), " ")))
	}
	t.Flush() //nolint:errcheck // what cannot be shown is not there to be seen either
	for _, p := range inv.Profiles {
		for _, l := range p.Limits {
			fmt.Fprintf(w, "\n%s is limited: %s", p.Runtime, untrusted.Text(l).Line(0))
		}
	}
	for _, s := range inv.NextSteps() {
		fmt.Fprintf(w, "\n%s", untrusted.Text(s).Line(0))
	}
	fmt.Fprintln(w)
}

func controlNames(p runtime.Profile) (names []string) {
	for _, c := range p.Controls {
		if c.Verified {
			names = append(names, string(c.Name))
		}
	}
	return names
}

func show(s string) string { return orDash(untrusted.Text(s).Line(40)) }
