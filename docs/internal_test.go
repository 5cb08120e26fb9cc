package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestWhatThePageOnSessionsShowsIsTaken: its spec and its agents can be pasted as they stand.
func TestWhatThePageOnSessionsShowsIsTaken(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	m := newMachine(t)
	bin := t.TempDir()
	m.goBuild(t, bin+"/", "./cmd/orchestrate")
	dir := m.repository(t)
	for name, language := range map[string]string{"jobs.yaml": "yaml", "agents.json": "json"} {
		block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(read(t, "internal.md"))
		if block == nil {
			t.Fatalf("the page shows no %s", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(block[1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, code := m.session(dir, bin+":"+m.path).sh(t, "orchestrate plan --agents agents.json jobs.yaml"); code != 0 {
		t.Errorf("exit status %d:\n%s", code, out)
	}
}
