package workspace

import (
	"context"
	"errors"
	"testing"
)

// What the next one in a worktree changes is told from what the one before left, and is on a
// branch of its own; that of the one before stays where it was.
func TestTheNextInAWorktreeHasItsOwnWork(t *testing.T) {
	r, _ := newRepo(t)
	ctx := context.Background()
	first := addTree(t, r, "orchestrate/run/one")
	write(t, first.Dir, "one.txt", "1\n")
	before, _ := captureAt(t, first)
	at := first.Place()
	at.Base = before.Commit

	second, err := r.TakeOver(ctx, at, "orchestrate/run/two")
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := second.Changed(ctx); err != nil || len(changed) != 0 {
		t.Errorf("changed before anything was: %v, %v", changed, err)
	}
	if got := gitDo(t, first.Dir, "status", "--porcelain", "--branch"); got != "## orchestrate/run/two\n" {
		t.Errorf("git status: %q", got)
	}
	write(t, second.Dir, "two.txt", "2\n")
	after, _ := captureAt(t, second)
	if len(after.Files) != 1 || after.Files[0].Path != "two.txt" || after.Base != before.Commit {
		t.Errorf("its work: %+v", after)
	}
	for branch, want := range map[string]string{"one": before.Commit, "two": after.Commit} {
		if got := gitDo(t, first.Dir, "rev-parse", "orchestrate/run/"+branch); got != want+"\n" {
			t.Errorf("branch %s is at %s, want %s", branch, got, want)
		}
	}
	if got := gitDo(t, first.Dir, "rev-parse", after.Commit+"^"); got != before.Commit+"\n" {
		t.Errorf("it is built on %s", got)
	}
}

func TestAWorktreeIsNotTakenOverOnABranchThatIsThere(t *testing.T) {
	r, _ := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/one")
	if _, err := r.TakeOver(context.Background(), tree.Place(), "orchestrate/run/one"); !errors.Is(err, ErrBranchExists) {
		t.Errorf("got %v", err)
	}
	if got := gitDo(t, tree.Dir, "symbolic-ref", "HEAD"); got != "refs/heads/orchestrate/run/one\n" {
		t.Errorf("it is on %s", got)
	}
}
