//go:build e2e && linux

package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"orchestrate/internal/inventory"
)

// The real programs are recognized, signed in, list their models and prove their
// controls; they are the very files that the lock file installed; and asking them
// calls no model.
func TestDoctorSeesTheInstalledAgents(t *testing.T) {
	l := newLab(t, idle, nil)
	e := l.orchestrate("doctor", "--json").wants(0)
	var inv inventory.Inventory
	ok(t, json.Unmarshal([]byte(e.stdout), &inv))
	for _, name := range []string{"claude", "codex"} {
		p, found := inv.Get(name)
		if !found || !p.Routable() || len(p.Models) == 0 || p.DefaultModel == "" || p.Capability == "" {
			t.Errorf("%s: %+v", name, p)
			continue
		}
		if p.Executable.SHA256 != digest(t, filepath.Join(need(t, "ORCHESTRATE_E2E_CLIS"), name)) {
			t.Errorf("%s: the digest of %s is not that of the installed file", name, p.Executable.Resolved)
		}
		if version := agentNamed(t, name).pinned(t); p.Version != version && os.Getenv("LATEST") == "" {
			t.Errorf("%s: version %q, the lock file installed %q", name, p.Version, version)
		}
	}
	for _, r := range l.sim.Requests() {
		if r.API != "" {
			t.Errorf("a model was called: %+v", r)
		}
	}
}

func digest(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	ok(t, err)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
