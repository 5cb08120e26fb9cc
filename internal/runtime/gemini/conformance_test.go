package gemini_test

import (
	"testing"

	"orchestrate/internal/runtime/conformance"
	"orchestrate/internal/runtime/gemini"
	"orchestrate/internal/runtime/probe/probetest"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Subject{
		Adapter:    gemini.New(),
		Machine:    machine,
		SignedOut:  func(h *probetest.Host) { h.Answers[asTrusted], h.Answers[asJob] = complains(noWay), complains(noWay) },
		Streams:    []string{"testdata/streams"},
		Completion: []string{`"type":"result"`},
	})
}
