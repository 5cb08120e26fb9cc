package claude

import (
	"orchestrate/internal/runtime"
)

// The flags that a command may hold. A flag that this binary's help does not
// show is never used; but for one that it hides, of which the binary itself is asked.
const (
	flagPrint      = "--print"
	flagStream     = "--output-format=stream-json"
	flagInput      = "--input-format=stream-json"
	flagVerbose    = "--verbose"
	flagTools      = "--tools"
	flagAllow      = "--allowedTools"
	flagDeny       = "--disallowedTools"
	flagSources    = "--setting-sources"
	flagStrictMCP  = "--strict-mcp-config"
	flagNoCommands = "--disable-slash-commands"
	flagAcceptEdit = "--permission-mode=acceptEdits"
	flagModel      = "--model"
	flagEffort     = "--effort"
	flagAgent      = "--agent"
	flagResume     = "--resume"
	flagSchema     = "--json-schema"
	flagAppend     = "--append-system-prompt"
	flagTurns      = "--max-turns" // hidden from help, see askTurns
)

func wantedFlags() []string {
	return []string{
		flagPrint, flagStream, flagInput, flagVerbose, flagTools, flagAllow, flagDeny, flagSources,
		flagStrictMCP, flagNoCommands, flagAcceptEdit, flagModel, flagEffort, flagAgent, flagResume,
		flagSchema, flagTurns, flagAppend,
	}
}

// indispensable flags are those without which no job can run or be followed.
func indispensable() []string { return []string{flagPrint, flagStream, flagVerbose} }

// isolationFlags keep settings, hooks and tool servers of the project and the
// user out, where help shows them. A project that the operator lets in brings its
// settings, hooks and instructions, but no tool servers.
func isolationFlags(p runtime.Profile, project bool) []string {
	sources := flagSources + "="
	if project {
		sources += "project"
	}
	var args []string
	for _, f := range [][2]string{{flagSources, sources}, {flagStrictMCP, flagStrictMCP}, {flagNoCommands, flagNoCommands}} {
		if p.Shows(f[0]) {
			args = append(args, f[1])
		}
	}
	return args
}

// controls says which restrictions the shown flags amount to. Read-only and
// edits-only need the tool list and everything that keeps other code out: a
// hook or a tool server would write whatever the tool list says.
func controls(p runtime.Profile) []runtime.Control {
	noProject := []string{flagSources, flagStrictMCP}
	return []runtime.Control{
		p.ControlBy(runtime.ControlToolLimits, flagTools),
		p.ControlBy(runtime.ControlNoProject, noProject...),
		p.ControlBy(runtime.ControlReadOnly, append([]string{flagTools}, noProject...)...),
		p.ControlBy(runtime.ControlEditsOnly, append([]string{flagTools, flagAcceptEdit}, noProject...)...),
		p.ControlBy(runtime.ControlArtifacts, append([]string{flagTools, flagAllow, flagAppend}, noProject...)...),
		p.ControlBy(runtime.ControlModel, flagModel),
		p.ControlBy(runtime.ControlEffort, flagEffort),
		p.ControlBy(runtime.ControlAgent, flagAgent),
		p.ControlBy(runtime.ControlAnswerForm, flagSchema),
	}
}
