package gemini

import (
	"orchestrate/internal/runtime"
)

// The flags that a command may hold. A flag that this binary's help does not
// show is never used.
const (
	flagStream     = "--output-format=stream-json"
	flagSkipTrust  = "--skip-trust"
	flagAsk        = "--approval-mode=default"
	flagAutoEdit   = "--approval-mode=auto_edit"
	flagPolicy     = "--admin-policy"
	flagServers    = "--allowed-mcp-server-names"
	flagExtensions = "--extensions"
	flagDirs       = "--include-directories"
	flagModel      = "--model"
	flagResume     = "--resume"
	flagSessions   = "--list-sessions" // probe only
	flagACP        = "--acp"           // probe only
)

func wantedFlags() []string {
	return []string{
		flagStream, flagSkipTrust, flagAsk, flagAutoEdit, flagPolicy, flagServers, flagExtensions,
		flagDirs, flagModel, flagResume, flagSessions, flagACP,
	}
}

// indispensable flags are those without which no job can run, be followed or be
// held to its tools.
func indispensable() []string { return []string{flagStream, flagSkipTrust, flagPolicy} }

// nothing is a name that no tool server and no extension has.
const nothing = "none"

// isolationFlags keep tool servers and extensions out, where help shows them.
func isolationFlags(p runtime.Profile) []string {
	var args []string
	for _, flag := range []string{flagServers, flagExtensions} {
		if p.Shows(flag) {
			args = append(args, flag+"="+nothing)
		}
	}
	return args
}

// controls says which restrictions the shown flags and the self-test amount to.
// Read-only and edits-only need the policy file and everything that keeps other
// code out: a hook or a tool server would write whatever the policy says.
func controls(p runtime.Profile, test selfTest) []runtime.Control {
	limits := given(p.ControlBy(runtime.ControlToolLimits, flagPolicy), test.policy)
	project := given(p.ControlBy(runtime.ControlNoProject, flagSkipTrust, flagServers, flagExtensions), test.project)
	return []runtime.Control{
		limits,
		project,
		given(given(p.ControlBy(runtime.ControlReadOnly, flagAsk), limits), project),
		given(given(p.ControlBy(runtime.ControlEditsOnly, flagAutoEdit), limits), project),
		p.ControlBy(runtime.ControlModel, flagModel),
		{Name: runtime.ControlEffort, Evidence: "gemini has no flag for a reasoning depth"},
		{Name: runtime.ControlAgent, Evidence: "gemini has no flag that names an agent"},
		{Name: runtime.ControlOSSandbox, Evidence: "gemini's sandbox is a container image that would have to be fetched; it is not used"},
	}
}

// given is c as far as what it rests on holds too.
func given(c, on runtime.Control) runtime.Control {
	if c.Verified && !on.Verified {
		return runtime.Control{Name: c.Name, Evidence: on.Evidence}
	}
	if c.Verified {
		c.Evidence = joined(c.Evidence, on.Evidence)
	}
	return c
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + " · " + b
}
