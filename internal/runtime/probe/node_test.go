package probe_test

import (
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// The texts are those of real programs under a Node that is too old for them.
func TestNeedsNode(t *testing.T) {
	const linking = `import{enableCompileCache}from"node:module";
        ^^^^^^^^^^^^^^^^^^
SyntaxError: The requested module 'node:module' does not provide an export named 'enableCompileCache'
    at ModuleJob._instantiate (node:internal/modules/esm/module_job:213:21)

Node.js v20.20.2
`
	for name, c := range map[string]struct {
		answer runtime.Answer
		want   string
	}{
		"says so itself": {
			runtime.Answer{ExitCode: 1, Stderr: []byte("It needs Node.js 22 or newer — you're on v20.20.2.\n\nCurrent Node: /usr/bin/node\n")},
			"does not run on this Node (v20.20.2): it needs Node 22 or newer",
		},
		"as an engine range": {
			runtime.Answer{ExitCode: 1, Stderr: []byte("Error: this CLI requires Node >=22.19.0 (found v20.20.2)")},
			"(v20.20.2): it needs Node 22.19.0 or newer",
		},
		"asks for what Node lacks": {runtime.Answer{ExitCode: 1, Stderr: []byte(linking)}, "(v20.20.2): it needs a newer Node"},
		"does not know the version": {
			runtime.Answer{ExitCode: 1, Stderr: []byte("Error [ERR_UNKNOWN_BUILTIN_MODULE]: No such built-in module: node:sqlite")},
			"(version unknown): it needs a newer Node",
		},
		"another package's fault": {
			runtime.Answer{ExitCode: 1, Stderr: []byte("SyntaxError: The requested module '@x/y' does not provide an export named 'default'\n\nNode.js v20.20.2\n")}, "",
		},
		"a help text that mentions it": {runtime.Answer{Stdout: []byte("Requires Node 22.")}, ""},
		"no answer":                    {runtime.Answer{ExitCode: -1, TimedOut: true, Stderr: []byte("needs Node 22")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			need, ok := probe.NeedsNode(c.answer)
			if ok != (c.want != "") || ok && !strings.Contains(need.Reason(), c.want) {
				t.Errorf("%t: %q, want %q", ok, need.Reason(), c.want)
			}
			if ok && !strings.Contains(need.NextStep(), "first on PATH") {
				t.Errorf("next step %q", need.NextStep())
			}
		})
	}
}
