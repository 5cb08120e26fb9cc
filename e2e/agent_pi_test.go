//go:build e2e && linux

package e2e

import "fmt"

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
		does:   map[string]outcome{},
	}
}
