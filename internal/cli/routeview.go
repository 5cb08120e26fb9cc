package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"orchestrate/internal/engine"
	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// view shows what plan and explain have in common: a route, what its program can get
// at, and who else was considered.
type view struct{ w io.Writer }

// line says one thing about a job, and nothing where there is nothing to say.
func (v view) line(label, text string) {
	if text != "" {
		fmt.Fprintf(v.w, "  %-12s %s\n", label, untrusted.From(text).Line(0))
	}
}

func (v view) route(r ledger.Route) {
	model := r.Model
	switch {
	case model == "" && r.Runtime == runtime.Internal:
		model = "the model of its agent" + saidModel(r)
	case model == "":
		model = "its default model"
	}
	if name := r.Adapter(); name != r.Runtime { // there is no model to speak of
		v.line("route", fmt.Sprintf("%s (%s)", name, r.Why))
	} else {
		v.line("route", fmt.Sprintf("%s, %s (%s)", name, model, r.Why))
	}
	if r.Capability != "" {
		v.line("capability", r.Capability+" ("+r.CapabilitySource+")")
	}
	if r.Agent != "" {
		v.line("agent", r.Agent)
	}
	effort := r.Effort
	if r.EffortWhy != "" {
		effort += " (" + r.EffortWhy + ")"
	}
	v.line("effort", effort)
	v.line("independence", r.Independence)
	isolation := r.Isolation
	if r.IsolationWhy != "" {
		isolation += " (raised: " + r.IsolationWhy + ")"
	}
	v.line("isolation", isolation)
	v.line("access", r.Access)
	v.line("sandbox", map[string]string{route.SandboxOwn: "its own", route.SandboxLandlock: "the engine's (" + route.SandboxLandlock + ")"}[r.Sandbox])
	v.line("controls", orDash(strings.Join(r.Controls, ", ")))
	v.line("constrained", strings.Join(r.Constrained, "; "))
}

// saidModel is the model that the hosting session says its agent has.
func saidModel(r ledger.Route) string {
	for _, c := range r.Candidates {
		if c.Chosen && c.Model != "" {
			return ", said to be " + c.Model
		}
	}
	return ", which is not said"
}

// worktree says what a job's tree holds before its program begins.
func (v view) worktree(f *engine.Furnishing) {
	if f == nil {
		return
	}
	if f.Base != "" {
		v.line("starts at", "the work of job "+f.Base)
	}
	if len(f.Copied) > 0 {
		v.line("copies", strings.Join(f.Copied, ", ")+" (its program can read them)")
	}
	for _, c := range f.Setup {
		v.line("set-up", c)
	}
}

func (v view) reach(r engine.Reach) {
	v.line("cwd", r.Cwd)
	v.line("may read", strings.Join(r.Readable, ", "))
	v.line("may write", orDash(strings.Join(r.Writable, ", ")))
	if len(r.EnvPassed)+len(r.EnvWithheld) > 0 {
		v.line("passes", strings.Join(r.EnvPassed, " "))
		v.line("withholds", orDash(strings.Join(r.EnvWithheld, " ")))
	}
	if r.Command != "" { // as it is, to be pasted
		fmt.Fprintf(v.w, "  %-12s %s\n", "command", strings.TrimSpace(untrusted.From(r.Command).Block()))
	}
}

// candidates tells of each who was considered, in order, how it fared; those that are
// not installed share a line.
func (v view) candidates(r ledger.Route, absent []string) {
	if len(r.Candidates) == 1 && r.Candidates[0].Chosen && r.Capability == "" {
		return // a plain program: nobody else could have been
	}
	var missing []string
	for _, c := range r.Candidates {
		name := c.Runtime
		if c.Agent != "" {
			name += " (agent " + c.Agent + ")"
		}
		switch {
		case c.Chosen:
			v.line("taken", name+": "+account(c))
		case slices.Contains(absent, c.Runtime) && len(r.Candidates) > 1:
			missing = append(missing, c.Runtime)
		case dropped(c):
			v.line("rejected", name+": "+strings.Join(c.Reasons, "; "))
		default:
			v.line("not taken", fmt.Sprintf("%s: %s: %s", name, c.Reasons[len(c.Reasons)-1], account(c)))
		}
	}
	if len(missing) > 0 {
		v.line("rejected", "not installed: "+strings.Join(missing, ", "))
	}
}

// dropped reports whether a candidate did not qualify: its account ends early.
func dropped(c ledger.Candidate) bool {
	n := len(c.Account)
	return n == 0 || strings.HasPrefix(c.Account[n-1].Finding, route.Dropped)
}

// account is what ranked a candidate, criterion by criterion.
func account(c ledger.Candidate) string {
	var all []string
	for _, a := range c.Account {
		if route.Ranks(a.Criterion) {
			all = append(all, a.Criterion+": "+a.Finding)
		}
	}
	return strings.Join(all, "; ")
}
