//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"orchestrate/internal/runtime"
)

// agent is one coding agent: how it is set up, and what comes of each cell.
type agent struct {
	name   string // of the runtime and of its executable
	pkg    string // that the lock file pins; "" = it is not installed
	setup  func(l *lab)
	model  string   // that jobs name, where the agent needs it
	shell  []string // the tools of a job that runs a command; nil = it can have none
	forced string   // a tool that writes, which no observer is offered
	rash   bool     // it approves everything by itself, so that what it writes needs a check
	does   map[string]outcome
	doctor verdict
}

// verdict is what doctor says of an agent that is set up.
type verdict struct {
	state    runtime.State
	signedIn string // yes, no or unknown
	why      string // part of the reason, where it cannot take jobs
	models   int    // at least so many
	standard string // the default model; "…" = whichever, "" = unknown
	controls string // those that are verified, in the profile's order
}

// agents are all of them, in the order of the table.
func agents() []agent {
	return []agent{
		claude(), codex(), gemini(), opencode(), kilo(), qwen(), copilot(),
		pi(), commandCode(), cline(), auggie(), amp(), crush(),
	}
}

// newAgentLab is a lab in which only these agents are installed, and each is set up.
func newAgentLab(t *testing.T, scenario string, nonces map[string]string, all ...agent) *lab {
	t.Helper()
	l := bareLab(t, scenario, nonces)
	for _, a := range all {
		l.install(a)
		a.setup(l)
	}
	return l
}

// install puts the agent's program where the lab finds it. One that npm does not
// install is there if this machine has it.
func (l *lab) install(a agent) {
	l.t.Helper()
	if a.pkg == "" {
		if path, err := exec.LookPath(a.name); err == nil {
			ok(l.t, os.Symlink(path, filepath.Join(l.bin, a.name)))
		}
		return
	}
	ok(l.t, os.Symlink(filepath.Join(need(l.t, "ORCHESTRATE_E2E_CLIS"), a.name), filepath.Join(l.bin, a.name)))
}

// pinned is the version that package-lock.json pins.
func (a agent) pinned(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("package-lock.json")
	ok(t, err)
	var lock struct {
		Packages map[string]struct{ Version string }
	}
	ok(t, json.Unmarshal(data, &lock))
	return lock.Packages["node_modules/"+a.pkg].Version
}
