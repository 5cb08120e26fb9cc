package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOpenRefusals(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	ctx := context.Background()
	plain, empty, bare := realTemp(t), realTemp(t), realTemp(t)
	gitDo(t, empty, "init", "-q")
	gitDo(t, bare, "init", "-q", "--bare")

	if _, err := Open(ctx, plain); !errors.Is(err, ErrNotRepo) {
		t.Errorf("plain folder: %v", err)
	}
	if _, err := Open(ctx, empty); !errors.Is(err, ErrNoCommit) {
		t.Errorf("no commit: %v", err)
	}
	write(t, empty, "sub/x", "x")
	if top, err := Top(ctx, filepath.Join(empty, "sub")); err != nil || top != empty {
		t.Errorf("the top of a checkout without a commit: %q, %v", top, err)
	}
	if _, err := Top(ctx, plain); !errors.Is(err, ErrNotRepo) {
		t.Errorf("the top of a plain folder: %v", err)
	}
	if _, err := Open(ctx, bare); err == nil || !strings.Contains(err.Error(), "bare") {
		t.Errorf("bare repository: %v", err)
	}
}

func TestOpenFromSubfolderAndResolve(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	write(t, dir, "sub/x", "x")
	sub := open(t, filepath.Join(dir, "sub"))
	if sub.Top() != dir {
		t.Errorf("top is %q, want %q", sub.Top(), dir)
	}
	head := strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD"))
	gitDo(t, dir, "tag", "-a", "-m", "x", "v1")
	for _, rev := range []string{"HEAD", "v1", head[:10], "main"} {
		if sha, err := r.Resolve(ctx, rev); err != nil || sha != head {
			t.Errorf("Resolve(%q) = %q, %v", rev, sha, err)
		}
	}
	for _, rev := range []string{"nope", "--all", "-x", ""} {
		if _, err := r.Resolve(ctx, rev); err == nil {
			t.Errorf("Resolve(%q) gave no error", rev)
		}
	}
}

func TestEmptyFirstCommitAndDetachedHead(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	dir := realTemp(t)
	gitDo(t, dir, "init", "-q")
	gitDo(t, dir, "commit", "-q", "--allow-empty", "-m", "nothing")
	gitDo(t, dir, "checkout", "-q", "--detach")
	r := open(t, dir)
	tree := addTree(t, r, "orchestrate/r/j")
	write(t, tree.Dir, "new.txt", "new\n")
	p, patch := capture(t, tree)
	if got := appliesTo(t, dir, tree.Base, patch); got != p.Tree {
		t.Errorf("the patch gives tree %s, want %s", got, p.Tree)
	}
}

func TestDirtyNamesEveryPath(t *testing.T) {
	r, dir := newRepo(t)
	write(t, dir, "a.txt", "changed\n")
	write(t, dir, "new \"q\"\nline/ü.txt", "x")
	write(t, dir, "ignored/x", "x")
	got, err := r.Dirty(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.txt", "new \"q\"\nline/ü.txt"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPersonsOwnIgnoresStayIgnored(t *testing.T) {
	_, dir := newRepo(t)
	home := os.Getenv("HOME")
	write(t, home, "ignores", "*.swp\n")
	write(t, home, ".gitconfig", "[core]\n\texcludesFile = ~/ignores\n")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig")) // whatever the caller has switched off
	r := open(t, dir)
	write(t, dir, "a.swp", "x")
	if got, err := r.Dirty(context.Background()); err != nil || len(got) != 0 {
		t.Errorf("Dirty = %q, %v", got, err)
	}
}

func TestReadsAtACommit(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	head := strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD"))
	write(t, dir, "a.txt", "changed\n")
	for _, c := range []struct {
		name string
		n    int
		want string
		ok   bool
	}{
		{"a.txt", 2, "two", true},
		{"a.txt", 3, "three", true},
		{"a.txt", 4, "", false},
		{"a.txt", 0, "", false},
		{"./a.txt", 1, "one", true},
		{"../a.txt", 1, "", false},
		{"/etc/passwd", 1, "", false},
		{"missing", 1, "", false},
	} {
		if got, ok := r.LineAt(ctx, head, c.name, c.n); got != c.want || ok != c.ok {
			t.Errorf("line %s:%d = %q, %v", c.name, c.n, got, ok)
		}
	}
}

func TestOpenInALinkedWorktree(t *testing.T) {
	main, dir := newRepo(t)
	ctx := context.Background()
	linked := filepath.Join(realTemp(t), "linked")
	gitDo(t, dir, "worktree", "add", "-q", "-b", "side", linked)
	gitDo(t, linked, "commit", "-q", "--allow-empty", "-m", "side")
	r := open(t, linked)
	if r.Top() != linked {
		t.Errorf("top is %q, want %q", r.Top(), linked)
	}
	here, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if there, err := main.Resolve(ctx, "HEAD"); err != nil || there == here {
		t.Errorf("both checkouts are at %s, %v", there, err)
	}
	tree := addTree(t, r, "orchestrate/run/job")
	write(t, tree.Dir, "a.txt", "changed\n")
	p, patch := capture(t, tree)
	if p.Base != here || appliesTo(t, dir, here, patch) != p.Tree {
		t.Errorf("captured %+v from %s", p, here)
	}
	if got, err := r.Dirty(ctx); err != nil || len(got) != 0 {
		t.Errorf("Dirty = %q, %v", got, err)
	}
}
