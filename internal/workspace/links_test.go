package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLinksOfACommit(t *testing.T) {
	r, dir := newRepo(t)
	write(t, dir, "sub/file", "../run.sh")
	for name, to := range map[string]string{"run": "t/real.sh", "sub/line\nend": "../t", "out": "/etc/passwd", "long": strings.Repeat("x/", 2000)} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	gitDo(t, dir, "add", "-A")
	gitDo(t, dir, "commit", "-q", "-m", "x")
	if err := os.Remove(filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	got, err := r.LinksAt(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"run": "t/real.sh", "sub/line\nend": "../t", "out": "/etc/passwd", "long": strings.Repeat("x/", 2000)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := r.LinksAt(t.Context(), "nonsense"); err == nil {
		t.Error("no such commit gave no error")
	}
}
