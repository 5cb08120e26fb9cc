package claude_test

import (
	"testing"

	"orchestrate/internal/runtime/claude"
	"orchestrate/internal/runtime/conformance"
	"orchestrate/internal/runtime/probe/probetest"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Subject{
		Adapter:    claude.New(),
		Machine:    machine,
		SignedOut:  set("auth status", probetest.Says(`{"loggedIn": false,"authMethod": "none"}`)),
		Streams:    []string{"testdata/streams"},
		Completion: []string{`"type":"result"`},
	})
}
