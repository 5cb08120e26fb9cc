package probe_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/runtime/probe"
)

func TestInstructionsAreLookedForUpToTheTopOfTheCheckout(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "checkout", "sub")
	for _, path := range []string{dir, filepath.Join(base, "checkout", ".git")} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path string) {
		if err := os.WriteFile(filepath.Join(base, path), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("AGENTS.md")
	if got := probe.Instructions(dir, "AGENTS.md"); got != "" {
		t.Errorf("above the checkout: %q", got)
	}
	write("checkout/AGENTS.md")
	if got := probe.Instructions(dir, "OTHER.md", "AGENTS.md"); !strings.Contains(got, filepath.Join("checkout", "AGENTS.md")) {
		t.Errorf("in the checkout: %q", got)
	}
}
