package conformance

import (
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe/probetest"
)

// Subject is one adapter with what its program was seen to do.
type Subject struct {
	// Adapter is what is tested.
	Adapter runtime.Adapter
	// Machine is one on which the program is installed and signed in and answers as
	// recorded. Each call makes a fresh one.
	Machine func(t *testing.T) *probetest.Host
	// SignedOut makes the program answer as it does when nobody is signed in; nil
	// where it has no way to tell.
	SignedOut func(*probetest.Host)
	// PromptInArgv says that the program takes its prompt no other way. The commands
	// must then say so in their limits.
	PromptInArgv bool
	// Streams are the folders of recorded attempts, NAME.out and NAME.err. There are
	// none where the output is taken as it is, and the exit is the only sign of an end.
	Streams []string
	// LastLine says that whatever line comes last is the result.
	LastLine bool
	// Completion is what only the program's own completion event has in it. No stream
	// without such a line may count as completed.
	Completion []string
}

// Run holds the subject against every check.
func Run(t *testing.T, s Subject) {
	t.Helper()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			for _, fault := range c.find(t, s) {
				t.Error(fault)
			}
		})
	}
}

// check finds faults of one kind. It reports them and does not fail the test, so
// that the suite's own tests can see what it finds.
type check struct {
	name string
	find func(*testing.T, Subject) []string
}

func checks() []check {
	return []check{
		{"probe/works", probeWorks},
		{"probe/missing", probeMissing},
		{"probe/another program", probeStranger},
		{"probe/hangs", probeHangs},
		{"probe/babbles", probeBabbles},
		{"probe/much help", probeMuchHelp},
		{"probe/signed out", probeSignedOut},
		{"command/shape", commandShape},
		{"command/only shown flags", commandFlags},
		{"command/a flag is gone", commandLosesFlags},
		{"command/a value is gone", commandLosesValues},
		{"command/hostile words", commandHostile},
		{"command/prompt and secrets", commandSecrets},
		{"command/any prompt", commandPrompts},
		{"command/turns", commandTurns},
		{"command/refuses the unverified", commandRefuses},
		{"command/no bypass", commandBypass},
		{"command/controls", commandControls},
		{"command/sessions", commandSessions},
		{"confinement/its own places", confinementPlaces},
		{"decoder/empty", decoderEmpty},
		{"decoder/recorded", decoderRecorded},
		{"decoder/cut anywhere", decoderCut},
		{"decoder/without its completion event", decoderIncomplete},
		{"decoder/torn and dirty lines", decoderDirty},
		{"decoder/odd fields", decoderOdd},
		{"decoder/usage that is not told", decoderUsage},
		{"decoder/usage as it says", decoderMetered},
	}
}
