package codex_test

import (
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/codex"
	"orchestrate/internal/runtime/conformance"
	"orchestrate/internal/runtime/probe/probetest"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Subject{
		Adapter:    codex.New(),
		Machine:    func(t *testing.T) *probetest.Host { return machine(t, sandbox{}) },
		SignedOut:  set("login status", runtime.Answer{ExitCode: 1, Stderr: []byte("Not logged in\n")}),
		Streams:    []string{"testdata/streams"},
		Completion: []string{`"type":"turn.completed"`, `"type":"turn.failed"`},
	})
}
