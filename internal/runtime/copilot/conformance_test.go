package copilot_test

import (
	"testing"

	"orchestrate/internal/runtime/conformance"
	"orchestrate/internal/runtime/copilot"
	"orchestrate/internal/runtime/probe/probetest"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Subject{
		Adapter:    copilot.New(),
		Machine:    machine,
		SignedOut:  set("--acp", probetest.Says(file(t, "testdata/probe/signedout.jsonl"))),
		Streams:    []string{"testdata/streams"},
		Completion: []string{`"type":"result"`},
	})
}
