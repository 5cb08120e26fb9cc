//go:build e2e && linux

package e2e

import (
	"fmt"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

func pi() agent {
	return agent{
		name: "pi", pkg: "@earendil-works/pi-coding-agent",
		setup: func(l *lab) {
			l.file("home/.pi/agent/models.json", fmt.Sprintf(`{"providers":{"sim":{"baseUrl":"%s/v1","api":"openai-completions",`+
				`"apiKey":"%s","models":[{"id":"made-up-model"}]}}}`, l.sim.URL("pi"), l.key("sk-made-up-")))
			l.file("home/.pi/agent/settings.json", `{"defaultProvider":"sim","defaultModel":"made-up-model"}`)
		},
		shell:  []string{"read", "bash"},
		forced: "write",
		rash:   true,
		doctor: verdict{state: runtime.StateConstrained, signedIn: "yes", models: 1, standard: "sim/made-up-model", controls: "read-only tool-limits model effort no-project"},
		does: map[string]outcome{
			"answer":  {events: "session model text usage answer completed"},
			"write":   {events: "session model tool(write) tool_done(write) text usage answer completed"},
			"refused": {why: "write refused: Tool write not found", events: "session model tool(write) denied(write: Tool write not found)"},
			// It would pass any other name on, or take one that is like it.
			"unknown-model": {status: ledger.Blocked, reason: runtime.BlockedNoRoute, why: "model no-such-model is wanted by the spec and is not in its live list"},
			"unauthorized":  {why: "401: ", events: "session failed(auth)"},
			"killed":        {events: "session model tool(bash)…"},
			"resumed":       {events: "session model text usage answer completed"},
		},
	}
}
