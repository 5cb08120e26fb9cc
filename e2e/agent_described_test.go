//go:build e2e && linux

package e2e

import (
	"path/filepath"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// The agents that are described by data.

func cline() agent {
	return agent{
		name: "cline", pkg: "cline",
		setup: func(l *lab) {
			l.command("", filepath.Join(l.bin, "cline"), "auth", "-p", "openai", "-k", l.key("sk-made-up-"), "-m", "made-up-model", "-b", l.sim.URL("cline")+"/v1")
		},
		doctor: verdict{state: runtime.StateConstrained, signedIn: "unknown", controls: "model effort"},
		does: map[string]outcome{
			"answer":        {events: "model usage answer completed"},
			"write":         {status: ledger.Blocked, reason: runtime.BlockedRiskControls, why: "cline: its tools cannot be limited and no sandbox of its own was shown"},
			"refused":       {status: ledger.Blocked, reason: runtime.BlockedRiskControls, why: "cline: its tools cannot be limited and no sandbox of its own was shown"},
			"unknown-model": {why: "The model `no-such-model` does not exist"},
			"unauthorized":  {why: "Incorrect API key provided."},
			"resumed":       {status: ledger.Blocked, why: "cline is described without a way to go on with an earlier session"},
		},
	}
}

func auggie() agent {
	return agent{name: "auggie", pkg: "@augmentcode/auggie", setup: signedOut, doctor: verdict{state: runtime.StateUnavailable, signedIn: "no", why: "nobody is signed in"}}
}

func amp() agent {
	return agent{name: "amp", pkg: "@sourcegraph/amp", setup: signedOut, doctor: verdict{state: runtime.StateUnverified, signedIn: "unknown", why: "AMP_API_KEY is not set"}}
}

// crush is not installed: what npm has of it fetches the program from elsewhere.
func crush() agent {
	return agent{name: "crush", setup: signedOut, doctor: verdict{state: runtime.StateUnavailable, signedIn: "unknown", why: `no executable named "crush" on PATH`}}
}

func signedOut(*lab) {}
