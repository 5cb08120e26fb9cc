//go:build e2e && linux

package e2e

import (
	"fmt"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// chatProvider is a configuration of opencode's kind with the simulated service as its
// only provider of note.
func chatProvider(l *lab, prefix, key string) string {
	return fmt.Sprintf(`{"model":"sim/made-up-model","provider":{"sim":{"npm":"@ai-sdk/openai-compatible",`+
		`"options":{"baseURL":"%s/v1","apiKey":"%s"},"models":{"made-up-model":{"name":"made-up-model"}}}}}`, l.sim.URL(prefix), key)
}

func opencode() agent {
	return agent{
		name: "opencode", pkg: "opencode-ai",
		setup: func(l *lab) {
			l.file("home/.config/opencode/opencode.json", chatProvider(l, "opencode", l.key("sk-made-up-")))
		},
		shell:  []string{"read", "bash"},
		doctor: verdict{state: runtime.StateConstrained, signedIn: "yes", models: 1, standard: "sim/made-up-model", controls: "no-project read-only tool-limits edits-only model effort agent"},
		does: map[string]outcome{
			"answer":  {events: "session text usage answer completed"},
			"write":   {events: "session tool(write) tool_done(write) usage text usage answer completed"},
			"refused": {why: "external_directory", events: `session tool(write) denied(write: …/outside.txt: refused by a rule for * "*", external_directory "*")`},
			// Its list is whole, and it fails on any other name without a word of use.
			"unknown-model": {status: ledger.Blocked, reason: runtime.BlockedNoRoute, why: "model no-such-model is wanted by the spec and is not in its live list"},
			"unauthorized":  {why: "APIError: Incorrect API key provided.", events: "session failed(auth)"},
			// It says nothing of a tool before that has ended.
			"killed":  {events: "session…"},
			"resumed": {events: "session text usage answer completed"},
		},
	}
}

func kilo() agent {
	return agent{
		name: "kilo", pkg: "@kilocode/cli",
		setup: func(l *lab) {
			l.file("home/.config/kilo/kilo.json", chatProvider(l, "kilo", l.key("sk-made-up-")))
		},
		doctor: verdict{state: runtime.StateConstrained, signedIn: "yes", models: 1, standard: "sim/made-up-model", controls: "no-project read-only tool-limits edits-only model effort agent"},
		does: map[string]outcome{
			"answer":  {events: "session text usage answer completed"},
			"write":   {events: "session tool(write) tool_done(write) usage text usage answer completed"},
			"refused": {why: "external_directory", events: `session tool(write) denied(write: …/outside.txt: refused by a rule for external_directory "*")`},
			// Its list is whole, and it fails on any other name without a word of use.
			"unknown-model": {status: ledger.Blocked, reason: runtime.BlockedNoRoute, why: "model no-such-model is wanted by the spec and is not in its live list"},
			"unauthorized":  {why: "Incorrect API key provided.", events: "…failed(auth)…"},
			// A table cannot give it a shell.
			"killed":  {events: "…"},
			"resumed": {events: "session text usage answer completed"},
		},
	}
}
