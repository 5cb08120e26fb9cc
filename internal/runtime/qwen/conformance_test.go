package qwen_test

import (
	"testing"

	"orchestrate/internal/runtime/conformance"
	"orchestrate/internal/runtime/probe/probetest"
	"orchestrate/internal/runtime/qwen"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Subject{
		Adapter:    qwen.New(),
		Machine:    machine,
		SignedOut:  session(probetest.Says(file(t, "testdata/probe/signedout.jsonl"))),
		Streams:    []string{"testdata/streams"},
		Completion: []string{`"type":"result"`},
	})
}
