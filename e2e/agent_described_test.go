//go:build e2e && linux

package e2e

import "path/filepath"

// The agents that are described by data.

func cline() agent {
	return agent{
		name: "cline", pkg: "cline",
		setup: func(l *lab) {
			l.command("", filepath.Join(l.bin, "cline"), "auth", "-p", "openai", "-k", l.key("sk-made-up-"), "-m", "made-up-model", "-b", l.sim.URL("cline")+"/v1")
		},
		does: map[string]outcome{},
	}
}

func auggie() agent {
	return agent{name: "auggie", pkg: "@augmentcode/auggie", setup: signedOut}
}

func amp() agent {
	return agent{name: "amp", pkg: "@sourcegraph/amp", setup: signedOut}
}

// crush is not installed: what npm has of it fetches the program from elsewhere.
func crush() agent {
	return agent{name: "crush", setup: signedOut}
}

func signedOut(*lab) {}
