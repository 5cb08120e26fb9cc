package opencode

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// liveAgent is one entry of the agent list, with the permissions that it has
// after everything was merged.
type liveAgent struct {
	name, mode string
	table      table
}

// trial is the folder of the table that the agents are listed under.
const trial = "/work/trial"

// readAgents lists the agents under the tables for reading and for editing, and
// judges by what the program makes of them.
func (b about) readAgents(ctx context.Context, asker *probe.Asker, p *runtime.Profile, live liveConfig) {
	main := cmp.Or(live.Agent, b.agent)
	readOnly := b.try(ctx, asker, p, runtime.AccessRead, main)
	edits := b.try(ctx, asker, p, runtime.AccessEdit, main)
	if edits.Verified && !p.Shows(plainKey) {
		edits = runtime.Control{Evidence: "patterns in the permissions of the user's configuration would be merged with those of the job"}
	}
	// A project's configuration could give the agents permissions of their own.
	if !p.Has(runtime.ControlNoProject) {
		readOnly = runtime.Control{Evidence: p.EvidenceOf(runtime.ControlNoProject)}
		edits = readOnly
	}
	limits := readOnly
	readOnly.Name, limits.Name, edits.Name = runtime.ControlReadOnly, runtime.ControlToolLimits, runtime.ControlEditsOnly
	p.Controls = append(p.Controls, readOnly, limits, edits)
}

// try lists the agents under the table of one access and says whether the main
// agent is held to it. Which others are is kept in the profile.
func (b about) try(ctx context.Context, asker *probe.Asker, p *runtime.Profile, access runtime.Access, main string) runtime.Control {
	asked, err := tableFor(runtime.Request{Access: access, Dir: trial}, "/")
	if err != nil {
		return runtime.Control{Evidence: err.Error()}
	}
	before := asker.Env
	asker.Env = append(append([]string(nil), before...), b.permission(asked))
	answer := asker.Ask(ctx, nil, append([]string{"agent", "list"}, pure(*p)...)...)
	asker.Env = before
	what := fmt.Sprintf("agent list under the table for %q access", access)
	if why := probe.Trouble(b.name+" "+what, answer); why != "" {
		return runtime.Control{Evidence: why}
	}
	agents := parseAgents(answer.Stdout)
	asker.Summarize(fmt.Sprintf("%s: %d agents", what, len(agents)))
	control := runtime.Control{Evidence: fmt.Sprintf("%s does not show the agent %s", what, main)}
	if access == runtime.AccessRead {
		p.Agents = pickable(agents)
	}
	for _, a := range agents {
		if a.name == main && a.table.inOrder() {
			p.Flags[shellKey] = what + ": what the table says of the shell comes after what it says of everything"
		}
		hole := a.table.hole(asked, b.keeps)
		if hole == "" {
			p.Flags[heldKey(access, a.name)] = what
		}
		switch {
		case a.name != main:
		case hole == "":
			control = runtime.Control{Verified: true, Evidence: what + ": " + main + " has no permission beyond it"}
		default:
			control.Evidence = what + ": " + main + " " + hole
		}
	}
	return control
}

// permission is the variable that gives a job its table.
func (b about) permission(t table) string { return b.prefix + "PERMISSION=" + t.encode() }

// pickable are the agents that can be asked for; the others are called by them.
func pickable(agents []liveAgent) (list []runtime.Agent) {
	for _, a := range agents {
		if a.mode != "subagent" {
			list = append(list, runtime.Agent{Name: a.name})
		}
	}
	return list
}

// parseAgents reads the list: a line with name and mode begins an entry, and its
// rules follow as a JSON array.
func parseAgents(printed []byte) (agents []liveAgent) {
	agentLine := regexp.MustCompile(`(?m)^(\S+) \((primary|subagent|all)\)\s*$`)
	for _, at := range agentLine.FindAllSubmatchIndex(printed, -1) {
		a := liveAgent{name: string(printed[at[2]:at[3]]), mode: string(printed[at[4]:at[5]])}
		if json.NewDecoder(bytes.NewReader(printed[at[1]:])).Decode(&a.table) == nil {
			agents = append(agents, a)
		}
	}
	return agents
}

// hole says what the table lets through that asked does not, or that it refuses
// all reading; "" when it is as asked. Reaching outside the folder is no hole:
// it opens reading only, since what may be edited has a rule of its own. Nor is
// keeps, which reads; it is among the limits.
func (t table) hole(asked table, keeps string) string {
	closed := -1
	for i, r := range t {
		if r == (rule{permAll, everything, deny}) {
			closed = i
		}
	}
	if closed < 0 {
		return "is not refused what is not named"
	}
	for _, r := range t[closed+1:] {
		if r.Permission == keeps || r.Permission == permOutside {
			continue
		}
		if r.Action != deny && !asked.allows(r.Permission, r.Pattern) {
			return fmt.Sprintf("may still use %s on %q", r.Permission, r.Pattern)
		}
	}
	for _, r := range asked {
		if r.Action == allow && r.Permission != permOutside && t.decides(r.Permission, r.Pattern) != allow {
			return fmt.Sprintf("is refused %s on %q, which jobs need", r.Permission, r.Pattern)
		}
	}
	return ""
}

// inOrder reports whether the table's word on the shell outranks its word on
// everything. Where the program has a word of its own on it, that one's place is kept,
// which comes before: the shell can then not be granted.
func (t table) inOrder() bool {
	shell, all := -1, -1
	for i, r := range t {
		switch r {
		case rule{permShell, everything, deny}:
			shell = i
		case rule{permAll, everything, deny}:
			all = i
		}
	}
	return shell > all
}

// decides is the action of the last rule for the permission that has exactly the
// pattern or every input's.
func (t table) decides(permission, pattern string) (action string) {
	for _, r := range t {
		if (r.Permission == permission || r.Permission == permAll) && (r.Pattern == pattern || r.Pattern == everything) {
			action = r.Action
		}
	}
	return action
}
