package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/spec"
)

// TestARepositorysFileIsAFile: a pipe of that name would be waited for without end.
func TestARepositorysFileIsAFile(t *testing.T) {
	root := t.TempDir()
	if data, err := readRepository(root); data != nil || err != nil {
		t.Errorf("nothing there: %q, %v", data, err)
	}
	if err := os.Mkdir(filepath.Join(root, spec.RepositoryFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := readRepository(root); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
}
