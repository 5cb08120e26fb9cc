package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	write(t, repo, ".git/orchestrate/add", dir)
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

	for _, dead := range []string{filepath.Join(root, "job"), whole.Dir, filepath.Join(root, "never begun")} {
		noteAdding(t, dir, dead)
		_, leave, err := r.turn(ctx, "next")
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
