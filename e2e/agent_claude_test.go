//go:build e2e && linux

package e2e

import "orchestrate/internal/runtime"

func claude() agent {
	return agent{
		name: "claude", pkg: "@anthropic-ai/claude-code",
		setup: func(l *lab) {
			l.set("ANTHROPIC_BASE_URL="+l.sim.URL("claude"), "ANTHROPIC_API_KEY="+l.key("sk-ant-made-up-"))
		},
		shell:  []string{"Read", "Write", "Bash"},
		doctor: verdict{state: runtime.StateAvailable, signedIn: "yes", models: 3, standard: "…", controls: "tool-limits no-project read-only edits-only artifacts-only model effort agent answer-schema"},
		does: map[string]outcome{
			"answer":        {events: "session model text usage answer completed"},
			"write":         {events: "session model tool(Write) tool_done(Write) text usage answer completed"},
			"refused":       {why: "Write refused: Claude requested permissions to write to", events: "session model tool(Write) denied(Write: Claude requested permissions to write to …/outside.txt, but you haven't granted it yet.)"},
			"unknown-model": {why: "the selected model (no-such-model). It may not exist", events: "session usage failed(unknown_model)"},
			"unauthorized":  {why: "401 authentication_failed", events: "session retry(auth) usage failed(auth)"},
			"killed":        {events: "session model tool(Bash)…"},
			"resumed":       {events: "session model text usage answer completed"},
		},
	}
}
