//go:build e2e && linux

package e2e

func gemini() agent {
	return agent{
		name: "gemini", pkg: "@google/gemini-cli",
		setup: func(l *lab) {
			l.file("home/.gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`)
			l.set("GEMINI_API_KEY="+l.key("AIza-made-up-"), "GOOGLE_GEMINI_BASE_URL="+l.sim.URL("gemini"))
		},
		shell: []string{"read_file", "run_shell_command"},
		does:  map[string]outcome{},
	}
}
