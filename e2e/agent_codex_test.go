//go:build e2e && linux

package e2e

import (
	"os"
	"path/filepath"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

func codex() agent {
	return agent{
		name: "codex", pkg: "@openai/codex",
		setup: func(l *lab) {
			ok(l.t, os.Mkdir(filepath.Join(l.base, "codex"), 0o700))
			l.set("CODEX_HOME=" + filepath.Join(l.base, "codex"))
			l.file("codex/config.toml", "openai_base_url = \""+l.sim.URL("codex")+"/v1\"\n")
			l.command(l.key("sk-made-up-"), filepath.Join(l.bin, "codex"), "login", "--with-api-key")
		},
		shell:  []string{},
		doctor: verdict{state: runtime.StateAvailable, signedIn: "yes", models: 3, standard: "…", controls: "read-only os-sandbox model effort answer-schema no-project"},
		does: map[string]outcome{
			"answer": {events: "session text usage answer completed"},
			"write":  {events: "session tool(apply_patch) tool_done(apply_patch) text usage answer completed"},
			// The refusal is in no event of its stream, only in its log, without the tool.
			"refused": {why: "patch rejected: writing outside of the project", events: "session denied(tool: patch rejected: writing outside of the project; rejected by user approval settings)"},
			// Its list is whole.
			"unknown-model": {status: ledger.Blocked, reason: runtime.BlockedNoRoute, why: "model no-such-model is wanted by the spec and is not in its live list"},
			"unauthorized":  {why: "401 Unauthorized", events: "session retry(auth)"},
			"killed":        {events: "session…"},
			"resumed":       {events: "session text usage answer completed"},
		},
	}
}
