package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"orchestrate/internal/inventory"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// showInventory shows what is there as a table, and then what a person should know or
// do. named says that the runtimes were asked for by name.
func showInventory(w io.Writer, inv inventory.Inventory, named bool) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "RUNTIME\tSTATE\tVERSION\tSIGNED IN\tDEFAULT MODEL\tMODELS\tAGENTS\tCAPABILITY\tCONTROLS")
	for _, p := range inv.Present() {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.Runtime, p.State, show(p.Version), signIn(p), show(p.DefaultModel),
			models(p), count(len(p.Agents)), show(p.Capability), orDash(strings.Join(controlNames(p), " ")))
	}
	t.Flush() //nolint:errcheck // what cannot be shown is not there to be seen either
	fmt.Fprintf(w, "\n%s\n", costOf(inv))
	var more []string
	for _, p := range inv.Profiles {
		if p.Kind != runtime.KindCLI && p.Kind != runtime.KindInternal {
			continue
		}
		for _, l := range p.Limits {
			more = append(more, p.Runtime+" is limited: "+l)
		}
	}
	more = append(more, toDo(inv, named)...)
	if len(more) > 0 {
		fmt.Fprintln(w)
	}
	for _, s := range more {
		fmt.Fprintln(w, untrusted.From(s).Line(0))
	}
}

// toDo is what a person can do, a line each. Runtimes that are not installed are only
// named, unless they were asked for or there is nothing else to set up.
func toDo(inv inventory.Inventory, named bool) (steps []string) {
	present := inventory.Inventory{Profiles: inv.Present()}
	absent := inv.Absent()
	hints := named || !slices.ContainsFunc(present.Profiles, func(p runtime.Profile) bool { return p.Kind == runtime.KindCLI })
	if hints {
		steps = inv.NextSteps()
	} else {
		steps = present.NextSteps()
	}
	if !slices.ContainsFunc(inv.Profiles, usableAgent) && !named {
		steps = append(steps, "no coding agent can take a job yet: set up any one of them, or try a graph without one with `orchestrate rehearse SPEC`")
	}
	if len(absent) > 0 && !hints {
		steps = append(steps, fmt.Sprintf("not installed: %s (`orchestrate doctor NAME` says how to install one)", strings.Join(absent, ", ")))
	}
	return steps
}

// costOf says what the round of questions took.
func costOf(inv inventory.Inventory) string {
	c := inv.Cost
	cpu := "not measured"
	if c.CPUMs != nil {
		cpu = seconds(*c.CPUMs)
	}
	return fmt.Sprintf("%d runtimes, %d questions: %s wall time; the questions' own times add up to %s (overlap %.1f); CPU of the programs asked: %s",
		len(inv.Profiles), c.Questions, seconds(c.WallMs), seconds(c.SumMs), c.Overlap, cpu)
}

func seconds(ms int64) string { return fmt.Sprintf("%.1f s", float64(ms)/1000) }

func signIn(p runtime.Profile) string {
	word := "unknown"
	switch {
	case p.Kind != runtime.KindCLI:
		return "-"
	case p.SignedIn != nil && *p.SignedIn:
		word = "yes"
	case p.SignedIn != nil:
		return "no"
	}
	if p.SignInMethod != "" {
		word += " (" + p.SignInMethod + ")"
	}
	return show(word)
}

// models is how many there are; a list that is known not to be whole says so.
func models(p runtime.Profile) string {
	if p.ModelsPartial && len(p.Models) > 0 {
		return strconv.Itoa(len(p.Models)) + "+"
	}
	return count(len(p.Models))
}

// count leaves a dash where nothing is known: an empty list was not given.
func count(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func controlNames(p runtime.Profile) (names []string) {
	for _, c := range p.Controls {
		if c.Verified {
			names = append(names, string(c.Name))
		}
	}
	return names
}

func show(s string) string { return orDash(untrusted.From(s).Line(40)) }
