//go:build e2e && linux

package e2e

func claude() agent {
	return agent{
		name: "claude", pkg: "@anthropic-ai/claude-code",
		setup: func(l *lab) {
			l.set("ANTHROPIC_BASE_URL="+l.sim.URL("claude"), "ANTHROPIC_API_KEY="+l.key("sk-ant-made-up-"))
		},
		shell: []string{"Read", "Write", "Bash"},
		does:  map[string]outcome{},
	}
}
