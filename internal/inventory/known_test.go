package inventory

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"orchestrate/internal/runtime"
)

// What another process learned of this command holds once, and only for the very file
// that it asked.
func TestWhatIsKnownIsNotAskedAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tool")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	exe, err := NewHost(HostOptions{}).Hash(file)
	if err != nil {
		t.Fatal(err)
	}
	known := runtime.Profile{Runtime: "x", Kind: runtime.KindCLI, State: runtime.StateConstrained, Version: "known", Executable: &exe}
	fresh := says("x", runtime.Profile{State: runtime.StateAvailable, Version: "fresh"})
	probe := func(h *LiveHost) string {
		p, _ := Probe(context.Background(), h, []runtime.Adapter{fresh}).Get("x")
		return p.Version
	}
	h := NewHost(HostOptions{Known: []runtime.Profile{known}})
	if first, second := probe(h), probe(h); first != "known" || second != "fresh" {
		t.Errorf("first %s, then %s", first, second)
	}
	h = NewHost(HostOptions{Known: []runtime.Profile{known}})
	if write("another"); probe(h) != "fresh" {
		t.Error("another file has the old one's profile")
	}
	if h := NewHost(HostOptions{Known: []runtime.Profile{{Runtime: "x"}}}); probe(h) != "fresh" {
		t.Error("a program that was not there is not looked for")
	}
}
