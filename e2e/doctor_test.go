//go:build e2e && linux

package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/inventory"
	"orchestrate/internal/runtime"
)

// The real programs are recognized, each in its state; they are the very files that
// the lock file installed; asking them calls no model, leaves no process, and writes
// nothing outside the scratch folder and the programs' own home.
func TestDoctorSeesTheInstalledAgents(t *testing.T) {
	l := newAgentLab(t, scenarioFor(agent{}), nil, agents()...)
	l.repository()
	before := l.changes()
	inv := l.examined()
	t.Logf("%d questions took %d ms one after the other, and %d ms as they were put, %.1f at a time; %d ms of processor time",
		inv.Cost.Questions, inv.Cost.SumMs, inv.Cost.WallMs, inv.Cost.Overlap, *inv.Cost.CPUMs)
	for _, a := range agents() {
		t.Run(a.name, func(t *testing.T) {
			p, found := inv.Get(a.name)
			if !found {
				t.Fatal("it is not in the inventory")
			}
			a.recognized(t, p)
		})
	}
	for _, r := range l.sim.Requests() {
		if r.API != "" {
			t.Errorf("a model was called: %+v", r)
		}
	}
	if after := l.changes(); after != before {
		t.Errorf("the workspace changed:\n%s", after)
	}
	noModelNames(t, inv)
}

// examined is what doctor says, seen by the way that nothing was written outside the
// lab or left in the scratch folder.
func (l *lab) examined() (inv inventory.Inventory) {
	l.t.Helper()
	script, err := filepath.Abs("outside.sh")
	ok(l.t, err)
	e, left := l.watched([]string{script, l.base, l.program(), "doctor", "--json"})
	for _, process := range left {
		l.t.Errorf("doctor left a process: %s", process)
	}
	ok(l.t, json.Unmarshal([]byte(e.wants(0).stdout), &inv))
	outside, err := os.ReadFile(filepath.Join(l.base, "outside.txt"))
	ok(l.t, err)
	for path := range strings.Lines(string(outside)) {
		// qwen tidies up after others of its kind that were killed.
		if !strings.HasPrefix(path, "removed /tmp/qwen-socks-") {
			l.t.Errorf("changed outside: %s", path)
		}
	}
	scratch, err := os.ReadDir(filepath.Join(l.base, "tmp"))
	ok(l.t, err)
	for _, entry := range scratch {
		l.t.Errorf("left in the scratch folder: %s", entry.Name())
	}
	return inv
}

// recognized holds a profile against what the agent is known to be.
func (a agent) recognized(t *testing.T, p runtime.Profile) {
	t.Helper()
	want := a.doctor
	signedIn := "unknown"
	if p.SignedIn != nil {
		signedIn = map[bool]string{true: "yes", false: "no"}[*p.SignedIn]
	}
	var controls []string
	for _, c := range p.Controls {
		if c.Verified {
			controls = append(controls, string(c.Name))
		}
	}
	t.Logf("%s %s: %s %s; signed in: %s %s; %d models, default %q; controls: %s; limits: %q",
		a.name, p.Version, p.State, p.Reason, signedIn, p.SignInMethod, len(p.Models), p.DefaultModel, strings.Join(controls, " "), p.Limits)
	got := fmt.Sprintf("%s, signed in: %s, default model %s, controls: %s", p.State, signedIn, p.DefaultModel, strings.Join(controls, " "))
	if wanted := fmt.Sprintf("%s, signed in: %s, default model %s, controls: %s", want.state, want.signedIn, want.standard, want.controls); !fits(wanted, got) {
		t.Errorf("%s\nwant %s", got, wanted)
	}
	if len(p.Models) < want.models || !strings.Contains(p.Reason, want.why) {
		t.Errorf("%d models, want %d at least; %q, want %q in it", len(p.Models), want.models, p.Reason, want.why)
	}
	if !p.Routable() && p.NextStep == "" {
		t.Error("it is not said what to do")
	}
	a.isTheInstalled(t, p)
}

// isTheInstalled: what was probed is the file that npm put there, in its version.
func (a agent) isTheInstalled(t *testing.T, p runtime.Profile) {
	t.Helper()
	if a.pkg == "" || p.Executable == nil {
		return
	}
	if p.Executable.SHA256 != digest(t, filepath.Join(need(t, "ORCHESTRATE_E2E_CLIS"), a.name)) {
		t.Errorf("the digest of %s is not that of the installed file", p.Executable.Resolved)
	}
	if version := a.pinned(t); p.Version != version && os.Getenv("LATEST") == "" {
		t.Errorf("version %q, the lock file installed %q", p.Version, version)
	}
}

func digest(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	ok(t, err)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
