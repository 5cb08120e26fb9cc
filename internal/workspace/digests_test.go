package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDigestsOfFilesInACommit(t *testing.T) {
	r, dir := newRepo(t)
	write(t, dir, "deploy.sh", "one\n")
	write(t, dir, "sub/two words.sh", "two\n")
	for link, to := range map[string]string{"link": "sub/up", "sub/up": "../deploy.sh", "out": "/etc/passwd", "away": "nothing", "ring": "ring"} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	gitDo(t, dir, "add", "-A")
	gitDo(t, dir, "commit", "-q", "-m", "x")
	write(t, dir, "deploy.sh", "changed since\n")

	got, err := r.Digests(t.Context(), strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD")), []string{
		"out", "deploy.sh", "away", "ring", "./sub/../deploy.sh", "link", "sub/two words.sh", "sub", "not there", "a blob", "deploy.sh/x", "../deploy.sh", "/deploy.sh", "a\nb", "",
	})
	if err != nil {
		t.Fatal(err)
	}
	one, two := hexOf("one\n"), hexOf("two\n")
	want := map[string]string{"deploy.sh": one, "./sub/../deploy.sh": one, "link": one, "sub/two words.sh": two}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := r.Digests(t.Context(), "nonsense", []string{"deploy.sh"}); err != nil {
		t.Errorf("in no commit at all: %v", err)
	}
}

func hexOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
