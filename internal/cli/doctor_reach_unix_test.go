//go:build unix

package cli

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestWritableSocket(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "s")
	l, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := os.Symlink("s", link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if real, ok := writableSocket(link); !ok || filepath.Base(real) != "s" {
		t.Errorf("%q, %t", real, ok)
	}
	for _, path := range []string{file, dir, filepath.Join(dir, "absent")} {
		if real, ok := writableSocket(path); ok {
			t.Errorf("%q is called a socket: %q", path, real)
		}
	}
}
