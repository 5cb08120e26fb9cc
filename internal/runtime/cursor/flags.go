package cursor

import (
	"strings"

	"orchestrate/internal/runtime"
)

// The flags that a command may hold. A flag that this binary's help does not
// show is never used.
const (
	flagPrint  = "--print"
	flagStream = "--output-format=stream-json"
	flagAsk    = "--mode=ask"
	flagTrust  = "--trust"
	flagAddDir = "--add-dir"
	flagModel  = "--model"
	flagResume = "--resume"
	flagList   = "--list-models"
)

func wantedFlags() []string {
	return []string{flagPrint, flagStream, flagAsk, flagTrust, flagAddDir, flagModel, flagResume, flagList}
}

// indispensable flags are those without which no job can be started, followed or
// kept from writing.
func indispensable() []string { return []string{flagPrint, flagStream, flagAsk, flagTrust} }

// readOnly is the word in the help's description of the mode on which it rests that a
// job only reads.
const readOnly = "read-only"

// noEdits is why no job can be let edit.
const noEdits = "edits and commands need --force, which approves everything, and nothing shows that its sandbox holds then"

// controls says which restrictions the shown flags amount to.
func controls(p runtime.Profile) []runtime.Control {
	reading := runtime.Control{Name: runtime.ControlReadOnly, Verified: true, Evidence: p.Flags[flagAsk]}
	if _, ask, _ := strings.Cut(p.Flags[flagAsk], "ask:"); !strings.Contains(ask, readOnly) {
		reading.Verified, reading.Evidence = false, "help does not say that "+flagAsk+" is "+readOnly
	}
	model := runtime.Control{Name: runtime.ControlModel, Verified: p.Shows(flagModel), Evidence: p.Flags[flagModel]}
	if !model.Verified {
		model.Evidence = "help does not show " + flagModel
	}
	return []runtime.Control{
		reading, model,
		{Name: runtime.ControlEditsOnly, Evidence: noEdits},
		{Name: runtime.ControlToolLimits, Evidence: "its help does not show a flag that takes tools away"},
		{Name: runtime.ControlNoProject, Evidence: "no flag keeps hooks of a folder out; a folder that brings some is refused instead"},
		{Name: runtime.ControlOSSandbox, Evidence: "its sandbox has no self-test that needs no model call"},
		{Name: runtime.ControlEffort, Evidence: "a reasoning depth is part of a model's name"},
		{Name: runtime.ControlAgent, Evidence: "its help does not show a flag that names an agent"},
	}
}
