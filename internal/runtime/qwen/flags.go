package qwen

import (
	"orchestrate/internal/runtime"
)

// The flags that a command may hold. A flag that this binary's help does not
// show is never used.
const (
	flagStream   = "--output-format=stream-json"
	flagSafe     = "--safe-mode"
	flagAsk      = "--approval-mode=default"
	flagAutoEdit = "--approval-mode=auto-edit"
	flagExclude  = "--exclude-tools"
	flagAllow    = "--allowed-tools"
	flagAddDir   = "--add-dir"
	flagModel    = "--model"
	flagResume   = "--resume"
	flagACP      = "--acp"
	flagSchema   = "--json-schema"
	flagTurns    = "--max-session-turns"
)

func wantedFlags() []string {
	return []string{
		flagStream, flagSafe, flagAsk, flagAutoEdit, flagExclude, flagAllow, flagAddDir, flagModel, flagResume, flagACP,
		flagSchema, flagTurns,
	}
}

// indispensable flags are those without which no job can be followed or limited
// to its tools.
func indispensable() []string { return []string{flagStream, flagSafe, flagExclude} }

// safeArgs keep hooks, extensions and tool servers out, and with them every rule
// of a settings file that would approve a tool. Probes and jobs get the same.
func safeArgs() []string { return []string{flagSafe} }

// controls says which restrictions the shown flags amount to. Read-only needs all
// three: the mode in which writing and the shell want an approval that nobody
// gives, the tools taken away by name, and the safe mode, without which a hook, a
// tool server or a rule of the project would write all the same.
func controls(p runtime.Profile) []runtime.Control {
	return []runtime.Control{
		p.ControlBy(runtime.ControlReadOnly, flagAsk, flagExclude, flagSafe),
		p.ControlBy(runtime.ControlToolLimits, flagExclude, flagSafe),
		p.ControlBy(runtime.ControlModel, flagModel),
		p.ControlBy(runtime.ControlAnswerForm, flagSchema),
		{Name: runtime.ControlEditsOnly, Evidence: "help does not say that edits approved by " + flagAutoEdit + " stay inside the working folder"},
		{Name: runtime.ControlNoProject, Evidence: "help does not say that " + flagSafe + " leaves out the project's settings and environment files"},
		{Name: runtime.ControlOSSandbox, Evidence: "its sandbox has no self-test that needs no model call"},
		{Name: runtime.ControlEffort, Evidence: "qwen has no flag for a reasoning depth"},
		{Name: runtime.ControlAgent, Evidence: "qwen has no flag that names an agent"},
	}
}
