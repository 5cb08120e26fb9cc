package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"orchestrate/internal/inventory"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/untrusted"
)

// thisHost is what can be enforced on this machine, how that was shown, and what cannot.
type thisHost struct {
	Sandbox   sandbox.Level `json:"sandbox"`
	Reachable []reachable   `json:"reachable"`
	Runtimes  []heldRuntime `json:"runtimes"`
}

// heldRuntime is what holds the jobs of one runtime here.
type heldRuntime struct {
	Runtime    string `json:"runtime"`
	Reads      string `json:"reads"`   // whose sandbox holds who only reads: own | landlock | ""
	Writes     string `json:"writes"`  // and who writes
	Project    string `json:"project"` // a project's own hooks and settings: off | allowed | not-held; "" = it has none
	ProjectWhy string `json:"projectWhy"`
}

// What a project's own hooks and settings do for a runtime.
const (
	projectOff     = "off"
	projectAllowed = "allowed"
	projectNotHeld = "not-held"
)

// surroundings looks at this machine. Nothing that is found is used.
func (st *station) surroundings(level sandbox.Level, found inventory.Inventory) thisHost {
	host := thisHost{Sandbox: level, Reachable: reachables(st.Env, os.Getuid(), writableSocket), Runtimes: []heldRuntime{}}
	own := st.own()
	for _, p := range found.Present() {
		host.Runtimes = append(host.Runtimes, st.heldBy(p, own[p.Runtime], level))
	}
	return host
}

func (st *station) heldBy(p runtime.Profile, own bool, level sandbox.Level) heldRuntime {
	h := heldRuntime{
		Runtime: p.Runtime,
		Reads:   route.SandboxOf(p, runtime.AccessRead, own, level), Writes: route.SandboxOf(p, runtime.AccessEdit, own, level),
	}
	switch {
	case p.Kind != runtime.KindCLI:
	case st.Operator.Runtimes[p.Runtime].Project:
		h.Project, h.ProjectWhy = projectAllowed, "runtimes."+p.Runtime+".project in the operator's configuration"
	case p.Has(runtime.ControlNoProject):
		h.Project, h.ProjectWhy = projectOff, p.EvidenceOf(runtime.ControlNoProject)
	default:
		h.Project, h.ProjectWhy = projectNotHeld, p.EvidenceOf(runtime.ControlNoProject)
	}
	return h
}

// own names the runtimes that work only in a sandbox of their own.
func (st *station) own() map[string]bool {
	all := map[string]bool{}
	for _, a := range st.Adapters {
		if c, ok := a.(runtime.Confined); ok {
			all[a.Name()] = c.Confinement(func(name string) string { return environ.Value(st.Env, name) }).Own
		}
	}
	return all
}

// testing tests this host's sandbox while the runtimes are asked.
func (st *station) testing(ctx context.Context) <-chan sandbox.Level {
	level := make(chan sandbox.Level, 1)
	go func() { level <- st.Level(ctx) }()
	return level
}

// show tells a person what can be enforced here.
func (h thisHost) show(w io.Writer) {
	say := func(label, text string) { fmt.Fprintf(w, "  %-10s %s\n", label, untrusted.From(text).Line(0)) }
	fmt.Fprintln(w, "\nThis host")
	switch h.Sandbox.State {
	case sandbox.Enforced:
		say("sandbox", fmt.Sprintf("%s, version %d: %s", h.Sandbox.Mechanism, h.Sandbox.ABI, h.Sandbox.Evidence))
		for _, limit := range h.Sandbox.Limits {
			say("not held", limit)
		}
		say("not there", "rights that a program gets by being started (sudo, su, ping)")
		say("not there", "new terminals (/dev/pts) and shared memory by name (/dev/shm): sandbox.writable can name them")
	default:
		say("sandbox", "none: "+cmp.Or(h.Sandbox.Evidence, "it was not tested"))
		say("instead", "jobs are held by modes of their agents that were shown to hold, or work in a worktree and are constrained; what needs a sandbox is blocked")
	}
	for _, r := range h.Reachable {
		say("reachable", r.text())
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "RUNTIME\tJOBS ARE HELD BY\tHOOKS AND SETTINGS OF A PROJECT")
	for _, r := range h.Runtimes {
		fmt.Fprintf(t, "%s\t%s\t%s\n", r.Runtime, r.held(), orDash(r.project()))
	}
	t.Flush() //nolint:errcheck // what cannot be shown is not there to be seen either
}

// held says whose sandbox holds it.
func (h heldRuntime) held() string {
	of := map[string]string{route.SandboxOwn: "its own sandbox", route.SandboxLandlock: "the engine's sandbox", "": "no sandbox"}
	if h.Reads == h.Writes {
		return of[h.Reads]
	}
	return of[h.Reads] + "; who writes by " + of[h.Writes]
}

func (h heldRuntime) project() string {
	switch h.Project {
	case projectNotHeld:
		return "not kept out: " + untrusted.From(h.ProjectWhy).Line(80)
	case projectAllowed:
		return "allowed by your configuration"
	}
	return h.Project
}
