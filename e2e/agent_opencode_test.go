//go:build e2e && linux

package e2e

import "fmt"

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
		shell: []string{"read", "bash"},
		does:  map[string]outcome{},
	}
}

func kilo() agent {
	return agent{
		name: "kilo", pkg: "@kilocode/cli",
		setup: func(l *lab) {
			l.file("home/.config/kilo/kilo.json", chatProvider(l, "kilo", l.key("sk-made-up-")))
		},
		shell: []string{"read", "bash"},
		does:  map[string]outcome{},
	}
}
