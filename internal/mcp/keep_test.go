package mcp

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Whoever keeps the same text at the same time never meets a part of it, and leaves nothing
// else behind.
func TestASpecIsThereAsAWhole(t *testing.T) {
	data := bytes.Repeat([]byte("# a long line of a long spec\n"), 50_000)
	for range 10 {
		path := filepath.Join(t.TempDir(), specsDir, "spec-1.yaml")
		var wg sync.WaitGroup
		made := make(chan bool, 8)
		for range cap(made) {
			wg.Go(func() {
				first, err := keep(path, data)
				if text, _ := os.ReadFile(path); err != nil || !bytes.Equal(text, data) {
					t.Errorf("%d bytes, %v", len(text), err)
				}
				made <- first
			})
		}
		wg.Wait()
		close(made)
		firsts := 0
		for first := range made {
			if first {
				firsts++
			}
		}
		left, err := os.ReadDir(filepath.Dir(path))
		if firsts != 1 || err != nil || len(left) != 2 { // and what hides it from git
			t.Errorf("%d made it; left: %v, %v", firsts, left, err)
		}
	}
	path := filepath.Join(t.TempDir(), "spec-2.yaml")
	if err := os.WriteFile(path, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if made, err := keep(path, data); made || err == nil {
		t.Errorf("%v, %v over another text", made, err)
	}
}
