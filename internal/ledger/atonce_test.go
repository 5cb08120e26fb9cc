package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A file comes whole, with its mode, and never in the place of another.
func TestCreateWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := createWhole(path, []byte("*\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := createWhole(path, []byte("other\n"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "*\n" {
		t.Errorf("%q, %v", data, err)
	}
	if err := createWhole(filepath.Join(path, "below"), nil, 0o600); err == nil {
		t.Error("a file below a file was made")
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}
