//go:build e2e && linux

package e2e

func copilot() agent {
	return agent{
		name: "copilot", pkg: "@github/copilot",
		setup: func(l *lab) {
			l.set("COPILOT_PROVIDER_BASE_URL="+l.sim.URL("copilot")+"/v1", "COPILOT_PROVIDER_TYPE=openai",
				"COPILOT_PROVIDER_API_KEY="+l.key("sk-made-up-"), "COPILOT_MODEL=made-up-model", "COPILOT_OFFLINE=true")
		},
		shell: []string{"view", "bash"},
		does:  map[string]outcome{},
	}
}
