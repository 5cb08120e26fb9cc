//go:build e2e && linux

package e2e

func qwen() agent {
	return agent{
		name: "qwen", pkg: "@qwen-code/qwen-code",
		setup: func(l *lab) {
			l.set("OPENAI_API_KEY="+l.key("sk-made-up-"), "OPENAI_BASE_URL="+l.sim.URL("qwen")+"/v1", "OPENAI_MODEL=made-up-model")
		},
		shell: []string{"read_file", "run_shell_command"},
		does:  map[string]outcome{},
	}
}
