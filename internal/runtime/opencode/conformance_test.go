package opencode_test

import (
	"testing"

	"orchestrate/internal/runtime/conformance"
	"orchestrate/internal/runtime/opencode"
	"orchestrate/internal/runtime/probe/probetest"
)

// signedOut is a program without any credentials, or a provider of its own.
func signedOut(t *testing.T, none string) func(*probetest.Host) {
	return func(h *probetest.Host) {
		h.Answers["auth list"], h.Answers["debug config"] = probetest.Says(file(t, none)), probetest.Says("{}")
	}
}

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Subject{
		Adapter:    opencode.New(),
		Machine:    machine,
		SignedOut:  signedOut(t, "testdata/probe/auth-none.txt"),
		Streams:    []string{"testdata/streams"},
		Completion: []string{`"reason":"stop"`},
	})
}

func TestConformanceOfKilo(t *testing.T) {
	conformance.Run(t, conformance.Subject{
		Adapter:    opencode.NewKilo(),
		Machine:    kilo,
		SignedOut:  signedOut(t, "testdata/probe/auth-none.txt"),
		Streams:    []string{"testdata/kilo"},
		Completion: []string{`"reason":"stop"`},
	})
}

// kilo is a machine on which the fork is installed and signed in.
func kilo(t *testing.T) *probetest.Host {
	host := machine(t)
	host.Answers["--version"] = probetest.Says("7.7.7\n")
	host.Answers["run --help"] = probetest.Says(file(t, "testdata/probe/kilo-run-help.txt"))
	host.Answers["auth list"] = probetest.Says(file(t, "testdata/probe/kilo-auth.txt"))
	agents(host, "build (primary)", "code (primary)")
	return host
}
