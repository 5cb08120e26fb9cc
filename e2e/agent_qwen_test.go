//go:build e2e && linux

package e2e

import "orchestrate/internal/runtime"

func qwen() agent {
	return agent{
		name: "qwen", pkg: "@qwen-code/qwen-code",
		setup: func(l *lab) {
			l.set("OPENAI_API_KEY="+l.key("sk-made-up-"), "OPENAI_BASE_URL="+l.sim.URL("qwen")+"/v1", "OPENAI_MODEL=made-up-model")
		},
		shell:  []string{"read_file", "run_shell_command"},
		forced: "write_file",
		doctor: verdict{state: runtime.StateConstrained, signedIn: "yes", models: 1, standard: "made-up-model", controls: "read-only tool-limits model answer-schema"},
		does: map[string]outcome{
			"answer": {events: "session model text usage answer completed"},
			"write":  {events: "session model tool(write_file) tool_done(write_file) text usage answer completed"},
			"refused": {
				why:    `Qwen Code requires permission to use "write_file", but that permission was declined`,
				events: `session model tool(write_file) denied(write_file: Qwen Code requires permission to use "write_file", but that permission was declined. Matching deny rule: "edit".)`,
			},
			"unknown-model": {why: "404 The model `no-such-model` does not exist", events: "session failed(unknown_model)"},
			"unauthorized":  {why: "401 Incorrect API key provided", events: "session failed(auth)"},
			"killed":        {events: "session model tool(run_shell_command)…"},
			"resumed":       {events: "session model text usage answer completed"},
		},
	}
}
