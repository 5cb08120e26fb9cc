package commandcode

import (
	"orchestrate/internal/runtime"
)

// The flags that a command may hold. The program ignores a flag that it does not
// know without a word, so one that its help does not show is never used.
const (
	flagPrint        = "--print"
	flagJSON         = "--output-format=json"
	flagMod          = "--mod"
	flagModel        = "--model"
	flagSession      = "--session"
	flagNoSession    = "--no-session"
	flagNoUpdate     = "--no-auto-update"
	flagNoOnboarding = "--skip-onboarding"
	flagNoSkills     = "--no-skills"
	flagList         = "--list-models"
	flagTurns        = "--max-turns"
)

func wantedFlags() []string {
	return append([]string{flagPrint, flagJSON, flagMod, flagModel, flagSession, flagNoSession, flagList, flagTurns}, plainFlags()...)
}

// plainFlags are given to every start where help shows them: what a job does not
// need is switched off.
func plainFlags() []string { return []string{flagNoUpdate, flagNoOnboarding, flagNoSkills} }

// indispensable flags are those without which no job can be followed or limited
// to its tools.
func indispensable() []string { return []string{flagPrint, flagJSON, flagMod} }

// base is how each start without a terminal begins.
func base(p runtime.Profile) []string {
	args := []string{flagPrint, flagJSON}
	for _, flag := range plainFlags() {
		if p.Shows(flag) {
			args = append(args, flag)
		}
	}
	return args
}

// noEdits is why no job can be let edit.
const noEdits = "without a terminal it refuses edits and the shell unless all permission checks are switched off, which is never done"

// controls says what is enforced; held is what the self-test showed, or why it
// showed nothing.
func controls(p runtime.Profile, held runtime.Control) []runtime.Control {
	reading := held
	reading.Name = runtime.ControlReadOnly
	model := runtime.Control{Name: runtime.ControlModel, Evidence: "help does not show " + flagModel}
	if p.Shows(flagModel) {
		model.Verified, model.Evidence = true, p.Flags[flagModel]
	}
	return []runtime.Control{
		reading, held, model,
		{Name: runtime.ControlEditsOnly, Evidence: noEdits},
		{Name: runtime.ControlNoProject, Evidence: "no flag keeps hooks and tool servers of a folder out; a folder that brings some is refused instead"},
		{Name: runtime.ControlOSSandbox, Evidence: "its help does not show a flag for a sandbox"},
		{Name: runtime.ControlEffort, Evidence: "its list of models does not say which reasoning depths they take"},
		{Name: runtime.ControlAgent, Evidence: "command-code has no flag that names an agent"},
	}
}
