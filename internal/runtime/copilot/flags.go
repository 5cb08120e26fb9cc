package copilot

import (
	"strings"

	"orchestrate/internal/runtime"
)

// The flags that a command may hold. A flag that this binary's help does not
// show is never used.
const (
	flagJSON           = "--output-format=json"
	flagTools          = "--available-tools"
	flagAllow          = "--allow-tool"
	flagDeny           = "--deny-tool"
	flagNoTemp         = "--disallow-temp-dir"
	flagNoServers      = "--disable-builtin-mcps"
	flagNoInstructions = "--no-custom-instructions"
	flagNoAsk          = "--no-ask-user"
	flagNoUpdate       = "--no-auto-update"
	flagNoTelemetry    = "--disable-client-telemetry"
	flagHide           = "--secret-env-vars"
	flagAddDir         = "--add-dir"
	flagModel          = "--model"
	flagResume         = "--resume"
	flagACP            = "--acp"
)

func wantedFlags() []string {
	return append([]string{
		flagJSON, flagTools, flagAllow, flagDeny, flagHide, flagAddDir, flagModel, flagResume, flagACP,
	}, plainFlags()...)
}

// plainFlags are given to every job where help shows them: what a job does not
// need is switched off.
func plainFlags() []string {
	return []string{flagNoTemp, flagNoServers, flagNoInstructions, flagNoAsk, flagNoUpdate, flagNoTelemetry}
}

// indispensable flags are those without which no job can be followed or limited
// to its tools.
func indispensable() []string { return []string{flagJSON, flagTools} }

// pathsKey is how the check of paths is kept among the profile's flags: it has no
// flag of its own, only one that switches it off and is never used.
const pathsKey = "help permissions: paths"

// pathCheck is the sentence of the program's own text on permissions which says
// that files are touched only in the working folder; "" when it is not there.
func pathCheck(topic string) string {
	const begins, ends = "By default, file access is restricted to paths within the current working directory", "."
	text := strings.Join(strings.Fields(topic), " ")
	_, rest, found := strings.Cut(text, begins)
	if !found {
		return ""
	}
	rest, _, _ = strings.Cut(rest, ends)
	return begins + rest + ends
}

// controls says which restrictions the shown flags amount to. Read-only and
// edits-only also need to know where code of a project is kept out, since a hook or
// a tool server would write whatever the tool list says; see addAccess.
func controls(p runtime.Profile, kept string, unknown error) []runtime.Control {
	bounded := func(c runtime.Control) runtime.Control {
		switch {
		case !c.Verified:
			return c
		case unknown != nil:
			return runtime.Control{Name: c.Name, Evidence: unknown.Error()}
		}
		c.Evidence += " · " + kept
		return c
	}
	return []runtime.Control{
		p.ControlBy(runtime.ControlToolLimits, flagTools),
		bounded(p.ControlBy(runtime.ControlReadOnly, flagTools)),
		bounded(p.ControlBy(runtime.ControlEditsOnly, flagTools, flagAllow, flagNoTemp, pathsKey)),
		p.ControlBy(runtime.ControlModel, flagModel),
		{Name: runtime.ControlNoProject, Evidence: "nothing shows that the settings file of a repository is left out"},
		{Name: runtime.ControlOSSandbox, Evidence: "its help does not show a flag for its sandbox"},
		{Name: runtime.ControlEffort, Evidence: "its help names reasoning depths, but not which model takes which"},
		{Name: runtime.ControlAgent, Evidence: "copilot has no command that lists its agents"},
	}
}
