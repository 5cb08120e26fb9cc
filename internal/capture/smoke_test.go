package capture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/secret"
)

func TestSmoke(t *testing.T) {
	p := filepath.Join(t.TempDir(), "stdout.txt")
	w, err := Create(p, 4096, secret.New([]string{"s3cr3t-Value-42"}))
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		w.Write([]byte("hello s3cr3t-V"))
		w.Flush()
		w.Write([]byte("alue-42 world ghp_abcdefghijklmnopqrstuvwxyz0123456789\n"))
	}
	w.Write([]byte("last line\n"))
	d, err := w.Close()
	b, _ := os.ReadFile(p)
	t.Log(d, err, len(b))
	if strings.Contains(string(b), "s3cr") || strings.Contains(string(b), "ghp_") || !strings.HasSuffix(string(b), "last line\n") {
		t.Fatal(string(b))
	}
	t.Log(string(b)[:200], string(b)[1900:2200])
}
