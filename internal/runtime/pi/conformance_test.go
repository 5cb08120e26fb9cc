package pi_test

import (
	"testing"

	"orchestrate/internal/runtime/conformance"
	"orchestrate/internal/runtime/pi"
	"orchestrate/internal/runtime/probe/probetest"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Subject{
		Adapter: pi.New(),
		Machine: machine,
		SignedOut: set("--mode rpc", probetest.Says(
			`{"id":1,"success":true,"data":{"thinkingLevel":"off"}}`+"\n"+`{"id":2,"success":true,"data":{"models":[]}}`)),
		Streams:    []string{streams},
		Completion: []string{`"type":"agent_settled"`},
	})
}
