package cursor_test

import (
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/conformance"
	"orchestrate/internal/runtime/cursor"
	"orchestrate/internal/runtime/probe/probetest"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Subject{
		Adapter:      cursor.New(),
		Machine:      host,
		SignedOut:    func(h *probetest.Host) { h.Answers["status"] = runtime.Answer{Stdout: []byte("Not logged in\n")} },
		PromptInArgv: true,
		Streams:      []string{"testdata/documented-streams"},
		Completion:   []string{`"type":"result"`},
	})
}
