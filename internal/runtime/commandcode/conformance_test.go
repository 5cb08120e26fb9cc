package commandcode_test

import (
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/commandcode"
	"orchestrate/internal/runtime/conformance"
	"orchestrate/internal/runtime/probe/probetest"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Subject{
		Adapter: commandcode.New(),
		Machine: host,
		SignedOut: func(h *probetest.Host) {
			h.Answers["status"] = runtime.Answer{ExitCode: 1, Stdout: []byte("✗ Not authenticated\n")}
		},
		Streams:    []string{"testdata/streams"},
		Completion: []string{`"type":"result"`},
	})
}
