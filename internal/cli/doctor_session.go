package cli

import (
	"fmt"
	"io"
	"strings"

	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// showSession shows the agents of the hosting session as a job would find them, or how
// they are told of.
func (e *examination) showSession(w io.Writer, op policy.Operator) {
	p, ok := e.Get(runtime.Internal)
	if !ok {
		fmt.Fprintln(w, "internal: a hosting session's own agents can take jobs too; with --agents FILE they are shown here (doctor --help shows the form)")
		return
	}
	fmt.Fprintln(w, "\nAgents of the hosting session, as it says:")
	for _, a := range p.Agents {
		fmt.Fprintf(w, "  %s\n", untrusted.From(aboutAgent(p.OfAgent(a), op)).Line(0))
	}
}

// aboutAgent is what is known of one of them: p is its profile.
func aboutAgent(p runtime.Profile, op policy.Operator) string {
	a := p.Agents[0]
	capability, source := policy.CapabilityOf(p, "", op)
	parts := []string{fmt.Sprintf("%s (%s)", capability, source)}
	if a.General {
		parts = append(parts, "takes any task")
	}
	if a.Model != "" {
		parts = append(parts, "model "+a.Model)
	}
	for _, c := range p.Controls {
		switch {
		case c.Name == runtime.ControlAgent:
		case c.Verified:
			parts = append(parts, string(c.Name)+" ("+c.Evidence+")")
		case c.Name == runtime.ControlToolLimits:
			parts = append(parts, "no "+string(c.Name)+" ("+c.Evidence+")")
		}
	}
	if a.Boundary != "" {
		parts = append(parts, "held, in the session's words, by: "+a.Boundary)
	}
	return a.Name + ": " + strings.Join(parts, "; ")
}
