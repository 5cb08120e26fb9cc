package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// Bounds of what is told of one runtime.
const (
	mostModels = 20
	mostAgents = 30
	mostLimits = 6
)

// inventory tells which runtimes there are now, as this run's probes found them. What can
// take no job is only named.
func inventory(profiles []runtime.Profile) string {
	var b strings.Builder
	var absent []string
	for _, p := range profiles {
		switch {
		case p.Kind == runtime.KindExec || p.Kind == runtime.KindStandin:
		case p.Routable():
			tell(&b, p)
		default:
			absent = append(absent, p.Runtime)
		}
	}
	if b.Len() == 0 {
		b.WriteString("none that can take a job\n")
	}
	if len(absent) > 0 {
		fmt.Fprintf(&b, "not to be had now: %s\n", strings.Join(absent, ", "))
	}
	return b.String()
}

func tell(b *strings.Builder, p runtime.Profile) {
	fmt.Fprintf(b, "%s: %s, kind %s, capability %s, family %s\n", p.Runtime, p.State, p.Kind, cmp.Or(p.Capability, "unknown"), cmp.Or(p.Family, "unknown"))
	var models, controls, agents []string
	for _, m := range p.Models {
		models = append(models, line(m.ID, 80))
	}
	for _, c := range p.Controls {
		if c.Verified {
			controls = append(controls, string(c.Name))
		}
	}
	for _, a := range p.Agents {
		agents = append(agents, strings.TrimSuffix(line(a.Name, 60)+": "+line(a.Description, 160), ": "))
	}
	one(b, "default model", []string{line(p.DefaultModel, 80)}, 1)
	one(b, "models", models, mostModels)
	one(b, "controls", controls, len(controls))
	one(b, "agents", agents, mostAgents)
	limits := slices.Clone(p.Limits)
	for i := range limits {
		limits[i] = line(limits[i], 200)
	}
	one(b, "limits", limits, mostLimits)
}

func one(b *strings.Builder, what string, all []string, most int) {
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
	if len(all) == 0 {
		return
	}
	more := ""
	if len(all) > most {
		more = fmt.Sprintf("; and %d more", len(all)-most)
		all = all[:most]
	}
	fmt.Fprintf(b, "  %s: %s%s\n", what, strings.Join(all, "; "), more)
}

func line(text string, most int) string { return untrusted.From(text).Line(most) }
