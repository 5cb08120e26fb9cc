package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// half is a registration of git as a killed `git worktree add` leaves it.
func half(t *testing.T, at, dir string, files ...string) {
	t.Helper()
	text := map[string]string{
		"locked": "initializing\n", "gitdir": filepath.Join(dir, ".git") + "\n",
		"HEAD": "0000000000000000000000000000000000000000\n", "commondir": "../..\n",
	}
	for _, name := range files {
		if empty, is := text[name]; is {
			write(t, at, name, empty)
		} else {
			write(t, at, name[1:], "") // -name: made, and nothing in it yet
		}
	}
}

// noteAdding leaves the note of one that died while it added dir.
func noteAdding(t *testing.T, repo, dir string) {
	t.Helper()
	text, err := json.Marshal(adding{Dir: dir, Branch: "orchestrate/run/" + filepath.Base(dir)})
	if err != nil {
		t.Fatal(err)
	}
	write(t, repo, ".git/orchestrate/add", string(text))
}

func TestAWorktreeWhoseAddingWasCutOffStopsNobody(t *testing.T) {
	for name, files := range map[string][]string{
		"just begun":      {"locked"},
		"link empty":      {"locked", "-gitdir"},
		"link there":      {"locked", "gitdir"},
		"HEAD empty":      {"locked", "gitdir", "-HEAD"},
		"HEAD there":      {"locked", "gitdir", "HEAD"},
		"commondir empty": {"locked", "gitdir", "HEAD", "-commondir"},
		"checking out":    {"locked", "gitdir", "HEAD", "commondir"},
		"power loss":      {"-locked", "-gitdir", "-HEAD", "-commondir"},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := newRepo(t)
			ctx := context.Background()
			root := realTemp(t)
			dead := filepath.Join(root, "job")
			write(t, dead, "half.txt", "checked out so far")
			registered := filepath.Join(dir, ".git", "worktrees", "job1") // job was taken
			half(t, registered, dead, files...)
			write(t, dir, ".git/refs/heads/orchestrate/run/job.lock", "")
			noteAdding(t, dir, dead)

			base, err := r.Resolve(ctx, "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			tree, err := r.AddWorktree(ctx, filepath.Join(root, "job.a2"), "orchestrate/run/job.a2", base)
			if err != nil {
				t.Fatal(err)
			}
			gitDo(t, dir, "worktree", "list")
			gitDo(t, dir, "gc", "--quiet")
			if _, err := os.Stat(registered); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the half registration: %v", err)
			}
			if _, err := os.Stat(filepath.Join(dead, "half.txt")); err != nil {
				t.Errorf("the folder was touched: %v", err)
			}
			if _, err := r.OpenTree(ctx, tree.Place()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOnlyWhatWasCutOffIsMended(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	root := realTemp(t)
	whole := addTree(t, r, "orchestrate/run/whole")
	theirs := filepath.Join(dir, ".git", "worktrees", "theirs") // a person adds one at this moment
	half(t, theirs, filepath.Join(root, "theirs"), "locked", "gitdir")
	named := filepath.Join(dir, ".git", "worktrees", "jobs")
	half(t, named, "", "locked")
	kept := filepath.Join(dir, ".git", "worktrees", "job")
	half(t, kept, filepath.Join(root, "job"), "gitdir", "HEAD", "commondir")
	write(t, kept, "locked", "keep it\n")
	gitDo(t, dir, "worktree", "lock", whole.Dir) // a person does, and gives no reason

	for _, dead := range []string{filepath.Join(root, "job"), whole.Dir, filepath.Join(root, "never begun")} {
		noteAdding(t, dir, dead)
		_, leave, err := r.turn(ctx, adding{Dir: "next"})
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	for _, at := range []string{theirs, named, kept, whole.Place().GitDir} {
		if _, err := os.Stat(at); err != nil {
			t.Error(err)
		}
	}
}

// cutGit is a git whose `worktree add` ends in the middle, as when it is killed.
const cutGit = `#!/bin/sh
case "$*" in
*"worktree add"*)
	mkdir -p "$TEST_AT" && cd "$TEST_AT" && echo initializing >locked && echo "$TEST_TREE/.git" >gitdir && : >commondir
	exit 137 ;;
esac
exec "$TEST_GIT" "$@"
`

func TestWhatAKilledAddLeftIsMendedAtOnce(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	base, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := realTemp(t)
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(cutGit), 0o755); err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	tree := filepath.Join(realTemp(t), "job")
	t.Setenv("TEST_GIT", program)
	t.Setenv("TEST_TREE", tree)
	t.Setenv("TEST_AT", filepath.Join(dir, ".git", "worktrees", "job"))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+path)
	if _, err := r.AddWorktree(ctx, tree, "orchestrate/run/job", base); err == nil {
		t.Error("an add that was killed succeeded")
	}
	t.Setenv("PATH", path)
	gitDo(t, dir, "worktree", "list")
	gitDo(t, dir, "gc", "--quiet")
}

// Locks that somebody else's killed git left belong to somebody else, and are in
// nobody's way.
func TestForeignLocksStopNobody(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	other := addTree(t, r, "orchestrate/run/other").Place().GitDir
	locks := []string{
		filepath.Join(dir, ".git", "index.lock"), filepath.Join(dir, ".git", "HEAD.lock"),
		filepath.Join(other, "index.lock"), filepath.Join(other, "HEAD.lock"), filepath.Join(other, "locked"),
	}
	for _, name := range locks {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree := addTree(t, r, "orchestrate/run/job")
	write(t, tree.Dir, "a.txt", "changed\n")
	capture(t, tree)
	before, err := r.SnapshotTree(ctx)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := SharedTree(ctx, r, before)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "a.txt", "changed\n")
	capture(t, shared)
	if _, err := r.Fingerprint(ctx); err != nil {
		t.Error(err)
	}
	for _, name := range locks {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

// However far git came when it was killed, the next one is added.
func TestAddingGoesOnAfterAKilledGit(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	base, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	root := realTemp(t)
	for i := range 12 {
		killed, cancel := context.WithTimeout(ctx, time.Duration(i)*time.Millisecond)
		// It may as well be done by then.
		_, _ = r.AddWorktree(killed, filepath.Join(root, fmt.Sprint("job", i)), fmt.Sprint("orchestrate/run/job", i), base)
		cancel()
		name := fmt.Sprint("job", i, ".a2")
		if _, err := r.AddWorktree(ctx, filepath.Join(root, name), "orchestrate/run/"+name, base); err != nil {
			t.Fatal(err)
		}
	}
	gitDo(t, dir, "gc", "--quiet")
}
