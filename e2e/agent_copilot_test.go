//go:build e2e && linux

package e2e

import "orchestrate/internal/runtime"

func copilot() agent {
	return agent{
		name: "copilot", pkg: "@github/copilot",
		setup: func(l *lab) {
			l.set("COPILOT_PROVIDER_BASE_URL="+l.sim.URL("copilot")+"/v1", "COPILOT_PROVIDER_TYPE=openai",
				"COPILOT_PROVIDER_API_KEY="+l.key("sk-made-up-"), "COPILOT_MODEL=made-up-model", "COPILOT_OFFLINE=true")
		},
		shell:  []string{"view", "bash"},
		doctor: verdict{state: runtime.StateConstrained, signedIn: "unknown", models: 1, standard: "made-up-model", controls: "tool-limits read-only edits-only model"},
		does: map[string]outcome{
			"answer":        {events: "model text session answer completed"},
			"write":         {events: "model tool(create) tool_done(create) text session answer completed"},
			"refused":       {why: "create refused: Permission denied because no interactive user response was available", events: "model tool(create) denied(create: Permission denied because no interactive user response was available. …)"},
			"unknown-model": {why: "Model 'no-such-model' not found on provider", events: "failed(unknown_model) session"},
			"unauthorized":  {why: "Authentication failed with provider", events: "retry(auth) failed(auth) session"},
			// It names its session in its last line only.
			"killed":  {events: "model tool(bash)…"},
			"resumed": {events: "model text session answer completed"},
		},
	}
}
