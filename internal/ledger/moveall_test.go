package ledger

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestMoveAll(t *testing.T) {
	r, err := Create(t.TempDir(), time.Date(2026, 7, 30, 12, 0, 5, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	for _, name := range []string{"from/sub", "to/sub"} {
		if err := r.MkdirAll(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"from/sub/a": "new", "from/b": "new", "to/sub/c": "old", "to/b": "old", "to/d": "old"} {
		if err := r.WriteFile(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // what is done is done
		if err := r.MoveAll("from", "to"); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"to/sub/a": "new", "to/b": "new", "to/d": "old", "to/sub/c": "", "from": ""} {
		if got, err := r.ReadFile(name); (err == nil) != (want != "") || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, r.Path("from")); err != nil {
		t.Fatal(err)
	}
	if err := r.MoveAll("from", "to"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(outside, "x")); err != nil {
		t.Error("a link was followed")
	}
}
