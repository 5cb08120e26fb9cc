//go:build e2e && linux

package e2e

import "orchestrate/internal/runtime"

func gemini() agent {
	return agent{
		name: "gemini", pkg: "@google/gemini-cli",
		setup: func(l *lab) {
			l.file("home/.gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`)
			l.set("GEMINI_API_KEY="+l.key("AIza-made-up-"), "GOOGLE_GEMINI_BASE_URL="+l.sim.URL("gemini"))
		},
		shell:  []string{"read_file", "run_shell_command"},
		doctor: verdict{state: runtime.StateAvailable, signedIn: "yes", models: 3, standard: "auto", controls: "tool-limits no-project read-only edits-only model"},
		does: map[string]outcome{
			"answer":        {events: "session text usage answer completed"},
			"write":         {events: "session tool(write_file) tool_done(write_file) text usage answer completed"},
			"refused":       {why: "write_file refused: Path not in workspace", events: "session tool(write_file) denied(write_file: Path not in workspace: Attempted path …/outside.txt\" resolves outside the allowed workspace directories: …)"},
			"unknown-model": {why: "no-such-model is not found", events: "session failed(unknown_model)"},
			"unauthorized":  {why: "API key not valid", events: "session failed(auth)"},
			"killed":        {events: "session tool(run_shell_command)…"},
			"resumed":       {events: "session text usage answer completed"},
		},
	}
}
