package pi

import (
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// The flags that a command may hold, as they are looked for: the word after "=" has
// to be in the flag's description. A flag that this binary's help does not show is
// never used.
const (
	flagJSON       = "--mode=json"
	flagRPC        = "--mode=rpc"
	flagTools      = "--tools=allowlist"
	flagNoTools    = "--no-tools"
	flagNoProject  = "--no-approve"
	flagNoCode     = "--no-extensions"
	flagNoServers  = "--no-mcp"
	flagNoSkills   = "--no-skills"
	flagNoPrompts  = "--no-prompt-templates"
	flagNoContext  = "--no-context-files"
	flagSessionDir = "--session-dir"
	flagNoSession  = "--no-session"
	flagSession    = "--session"
	flagModel      = "--model"
	flagThinking   = "--thinking"
)

// sessions is where jobs keep their sessions. The program expands the tilde.
const sessions = "~/.pi/agent/sessions/orchestrate"

func wantedFlags() []string {
	flags := append(indispensable(), flagRPC, flagNoTools, flagNoSkills, flagNoPrompts, flagNoContext, flagNoSession, flagSession, flagModel, flagThinking)
	for _, level := range levels() {
		flags = append(flags, flagThinking+"="+level)
	}
	return flags
}

// indispensable flags are those without which no job can be followed or limited to
// its tools, or a project would have its own code run.
func indispensable() []string {
	return []string{flagJSON, flagTools, flagNoProject, flagNoCode, flagNoServers, flagSessionDir}
}

// levels are the words for a reasoning depth that the program has had so far. Which
// of them it takes today its help says, and which a model takes the model list.
func levels() []string { return []string{"off", "minimal", "low", "medium", "high", "xhigh", "max"} }

// spelled are the words of a flag on the command line: the program knows no "=".
func spelled(flag string) []string {
	name, value, _ := strings.Cut(flag, "=")
	if flag == flagJSON || flag == flagRPC {
		return []string{name, value}
	}
	return []string{name}
}

// ownArgs keep the project's files, extensions and tool servers out, and skills,
// prompt templates and instructions where help shows how. Probes and jobs get the same, so that
// they see the same models.
func ownArgs(p runtime.Profile) []string {
	args := []string{flagNoProject, flagNoCode, flagNoServers}
	for _, flag := range []string{flagNoSkills, flagNoPrompts, flagNoContext} {
		if p.Shows(flag) {
			args = append(args, flag)
		}
	}
	return args
}

// readingKey is how the program's own word for a read-only run is kept among the
// profile's flags.
const readingKey = "help: read-only"

// readingExample is that word: an example in its help. Nothing else says that no
// tool beside those on the list can write.
func readingExample(help string) string {
	const title = "# Read-only mode (no file modifications possible)"
	_, rest, found := strings.Cut(help, title)
	if !found {
		return ""
	}
	command := probe.FirstLine(rest)
	if !strings.HasPrefix(command, "pi --tools "+strings.Join(reading(), ",")+" ") {
		return ""
	}
	return title + " " + command
}

// controls says which restrictions the shown flags amount to.
func controls(p runtime.Profile) []runtime.Control {
	return []runtime.Control{
		p.ControlBy(runtime.ControlReadOnly, flagTools, readingKey, flagNoProject, flagNoCode, flagNoServers, flagSessionDir),
		p.ControlBy(runtime.ControlToolLimits, flagTools, flagNoCode, flagNoServers),
		p.ControlBy(runtime.ControlModel, flagModel),
		p.ControlBy(runtime.ControlEffort, flagThinking),
		p.ControlBy(runtime.ControlNoProject, flagNoProject, flagNoCode, flagNoServers, flagSessionDir),
		{Name: runtime.ControlEditsOnly, Evidence: "pi has no permission system: its tools write anywhere"},
		{Name: runtime.ControlOSSandbox, Evidence: "pi has no sandbox of its own"},
		{Name: runtime.ControlAgent, Evidence: "pi has no agents"},
	}
}
