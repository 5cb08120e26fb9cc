package workspace

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFingerprintOfACheckout(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	write(t, dir, "person.txt", "there before\n")
	write(t, dir, "a.txt", "dirty before\n")
	take := func() Fingerprint {
		t.Helper()
		fp, err := r.Fingerprint(ctx, "plans/reports")
		if err != nil {
			t.Fatal(err)
		}
		return fp
	}
	before := take()
	write(t, dir, "plans/reports/x/report.md", "ours")
	write(t, dir, "ignored/cache", "x")
	gitDo(t, dir, "add", "person.txt") // staging changes no content
	if got := before.Diff(take()); got != nil {
		t.Errorf("changed without a change: %q", got)
	}
	write(t, dir, "a.txt", "dirty  after\n")
	write(t, dir, "new file", "x")
	write(t, dir, ".git/hooks/post-checkout", "#!/bin/sh\n")
	gitDo(t, dir, "update-index", "--assume-unchanged", "run.sh")
	write(t, dir, "run.sh", "hidden\n")
	if err := os.Remove(filepath.Join(dir, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	want := []string{".git/hooks/post-checkout", "a.txt", "gone.txt", "new file", "run.sh"}
	if diff := cmp.Diff(want, before.Diff(take())); diff != "" {
		t.Error(diff)
	}
	gitDo(t, dir, "commit", "-q", "-m", "moved", "person.txt")
	if diff := cmp.Diff([]string{".git/hooks/post-checkout", "HEAD", "a.txt", "gone.txt", "new file", "person.txt", "run.sh"}, before.Diff(take())); diff != "" {
		t.Error(diff)
	}
}

func TestAddingWorktreesDoesNotChangeTheFingerprint(t *testing.T) {
	r, _ := newRepo(t)
	ctx := context.Background()
	before, err := r.Fingerprint(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tree := addTree(t, r, "orchestrate/run/job")
	write(t, tree.Dir, "a.txt", "changed\n")
	capture(t, tree)
	after, err := r.Fingerprint(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got := before.Diff(after); got != nil {
		t.Errorf("changed: %q", got)
	}
}

func TestFingerprintOfAPlainFolder(t *testing.T) {
	dir := realTemp(t)
	ctx := context.Background()
	write(t, dir, "a/b", "1")
	write(t, dir, "c", "1")
	before, err := FolderFingerprint(ctx, dir, "run")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "run/x", "ours")
	write(t, dir, "a/b", "22")
	write(t, dir, "d", "")
	after, err := FolderFingerprint(ctx, dir, "run")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a/b", "d"}, before.Diff(after)); diff != "" {
		t.Error(diff)
	}
}

func TestAFingerprintComesBackFromJSON(t *testing.T) {
	r, dir := newRepo(t)
	write(t, dir, "ünï \"file\"", "x")
	fp, err := r.Fingerprint(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(fp)
	if err != nil {
		t.Fatal(err)
	}
	var names map[string]any
	if err := json.Unmarshal(data, &names); err != nil {
		t.Fatal(err)
	}
	if names["head"] != fp.Head || names["entries"] == nil || names["partial"] != false {
		t.Errorf("names %s", data)
	}
	var back Fingerprint
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fp, back); diff != "" {
		t.Error(diff)
	}
}
