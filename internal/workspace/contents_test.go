package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestContentsOfFilesInACommit(t *testing.T) {
	r, dir := newRepo(t)
	write(t, dir, "one.txt", "one\n")
	write(t, dir, "none", "")
	write(t, dir, "line\nend\t\"", "odd name")
	write(t, dir, "big", strings.Repeat("x", 100))
	write(t, dir, "sub/bin", "a\x00b")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	gitDo(t, dir, "add", "-A")
	gitDo(t, dir, "update-index", "--add", "--cacheinfo", SubmoduleMode+","+strings.Repeat("1", 40)+",module")
	gitDo(t, dir, "commit", "-q", "-m", "x")
	write(t, dir, "one.txt", "changed since\n")

	got := map[string]Content{}
	names := []string{"one.txt", "none", "line\nend\t\"", "big", "sub/bin", "out", "module", "sub", "missing", "../one.txt"}
	err := r.Contents(t.Context(), "HEAD", names, 50, func(c Content) error {
		got[c.Path] = c
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Content{
		"one.txt":       {Path: "one.txt", Mode: "100644", Size: 4, Data: []byte("one\n")},
		"none":          {Path: "none", Mode: "100644", Data: []byte{}},
		"line\nend\t\"": {Path: "line\nend\t\"", Mode: "100644", Size: 8, Data: []byte("odd name")},
		"big":           {Path: "big", Mode: "100644", Size: 100},
		"sub/bin":       {Path: "sub/bin", Mode: "100644", Size: 3, Data: []byte("a\x00b")},
		"out":           {Path: "out", Mode: "120000", Size: 11, Data: []byte("/etc/passwd")},
		"module":        {Path: "module", Mode: SubmoduleMode},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := r.Contents(t.Context(), "nonsense", names, 50, func(Content) error { return nil }); err == nil {
		t.Error("no such commit gave no error")
	}
	if err := r.Contents(t.Context(), "HEAD", nil, 50, func(Content) error { t.Error("unasked"); return nil }); err != nil {
		t.Error(err)
	}
}
