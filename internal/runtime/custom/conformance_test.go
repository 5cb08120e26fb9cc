package custom_test

import (
	"os"
	"path/filepath"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/conformance"
	"orchestrate/internal/runtime/custom"
	"orchestrate/internal/runtime/probe/probetest"
)

func TestConformsByDescription(t *testing.T) {
	conformance.Run(t, conformance.Subject{
		Adapter: described(t, agent), Machine: func(*testing.T) *probetest.Host { return machine() },
		SignedOut: func(h *probetest.Host) {
			h.Answers["whoami"] = runtime.Answer{ExitCode: 1, Stdout: []byte("nobody\n")}
		},
		Streams: []string{"testdata/streams"}, Completion: []string{`"done"`}, LastLine: true,
	})
}

// Versions as the programs really print them.
func versions() map[string]string {
	return map[string]string{
		"cline": "3.0.65", "amp": "0.0.1790142911-g7618fb (released 2026-09-23T05:55:11.000Z, 2mo ago)", "crush": "crush version devel",
	}
}

// TestShippedDescriptionsConform leaves auggie to its own test: it answers by the
// agents' protocol.
func TestShippedDescriptionsConform(t *testing.T) {
	known := custom.Known()
	for name, version := range versions() {
		t.Run(name, func(t *testing.T) {
			help, err := os.ReadFile(filepath.Join("testdata", "help", name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			conformance.Run(t, conformance.Subject{
				Adapter: custom.New(name, custom.Shipped, known[name], "/bin/self"), PromptInArgv: known[name].Prompt == "arg",
				Machine: func(*testing.T) *probetest.Host {
					return &probetest.Host{Env: map[string]string{"AMP_API_KEY": "k"}, Answers: map[string]runtime.Answer{
						"--version": probetest.Says(version), "--help": probetest.Says(string(help)),
						"run --help": probetest.Says(string(help)), "models": probetest.Says("a/b\n"),
					}}
				},
			})
		})
	}
}
