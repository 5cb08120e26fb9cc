//go:build e2e && linux

package e2e

import (
	"fmt"
	"path/filepath"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

func commandCode() agent {
	return agent{
		name: "command-code", pkg: "command-code",
		setup: func(l *lab) {
			l.file("home/provider-key", l.key("sk-made-up-"))
			l.file("home/.commandcode/providers.json", fmt.Sprintf(`{"provider":{"sim":{"name":"Sim","baseURL":"%s/v1",`+
				`"apiKey":"!cat %s","models":{"made-up-model":{}}}}}`, l.sim.URL("command-code"), filepath.Join(l.base, "home/provider-key")))
			l.set("COMMAND_CODE_API_KEY="+l.key("user_made_up_"), "CMD_LOCAL_ONLY=1")
		},
		model:  "sim/made-up-model",
		forced: "write_file",
		doctor: verdict{state: runtime.StateConstrained, signedIn: "yes", models: 10, controls: "read-only tool-limits model"},
		does: map[string]outcome{
			"answer": {events: "session text usage answer completed"},
			"write":  {status: ledger.Blocked, reason: runtime.BlockedRiskControls, why: "cannot be let edit: without a terminal it refuses edits and the shell unless all permission checks are switched off"},
			"refused": {
				why:    "write_file refused: not one of the job's tools (read_file, read_directory, glob, grep)",
				events: "session tool(write_file) denied(write_file: not one of the job's tools (read_file, read_directory, glob, grep): …)",
			},
			"unknown-model": {why: `unknown model "no-such-model"`, events: "failed(unknown_model)"},
			"unauthorized":  {why: "Authentication failed.", events: "session failed(auth)"},
			"killed":        {events: "session"},
			"resumed":       {events: "session text usage answer completed"},
		},
	}
}
