package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFolderGoesAndNothingBesideIt(t *testing.T) {
	top := realTemp(t)
	outside := filepath.Join(top, "outside")
	write(t, outside, "file", "x")
	dir := filepath.Join(top, "dir")
	write(t, dir, "read-only/deep/file", "x")
	for name, to := range map[string]string{"folder": outside, "file": filepath.Join(outside, "file"), "round": "."} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"read-only/deep", "read-only", "."} {
		if err := os.Chmod(filepath.Join(dir, name), 0o500); err != nil {
			t.Fatal(err)
		}
	}
	if err := RemoveFolder(dir); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(top)
	if err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(outside, "file")); err != nil {
		t.Error(err)
	}
	if err := RemoveFolder(dir); err != nil {
		t.Errorf("a folder that is gone: %v", err)
	}
	link := filepath.Join(top, "link")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	if err := RemoveFolder(link); err == nil {
		t.Error("a link was removed as a folder")
	}
}

func TestWhatIsHalfRemovedIsFoundAgain(t *testing.T) {
	top := realTemp(t)
	write(t, top, "run/file", "x")
	gone, err := SetAside(filepath.Join(top, "run")) // and then the power fails
	if err != nil {
		t.Fatal(err)
	}
	write(t, top, "run/file", "another one")
	found, err := GoneIn(top)
	if err != nil || len(found) != 1 || found[0] != gone {
		t.Fatalf("found %v, %v", found, err)
	}
	if err := RemoveGone(filepath.Join(top, "run")); err == nil {
		t.Error("a folder in use was removed as one that was being removed")
	}
	if err := RemoveGone(gone); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(top, "run", "file")); err != nil || string(data) != "another one" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestATreeGoesWithItsRegistration(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	tree := addTree(t, r, "orchestrate/run/job")
	write(t, tree.Dir, "left over", "x")
	if err := r.RemoveTree(ctx, tree.Dir, tree.git.gitDir); err != nil {
		t.Fatal(err)
	}
	if out := gitDo(t, dir, "worktree", "list", "--porcelain"); strings.Count(out, "worktree ") != 1 {
		t.Errorf("git still knows it:\n%s", out)
	}
	if err := r.RemoveTree(ctx, tree.Dir, tree.git.gitDir); err != nil {
		t.Errorf("once more: %v", err)
	}
	if err := r.DeleteBranch(ctx, tree.Branch, strings.Repeat("1", 40)); err == nil {
		t.Error("a branch that is elsewhere was deleted")
	}
	if err := r.DeleteBranch(ctx, tree.Branch, tree.Base); err != nil {
		t.Fatal(err)
	}
	if out := gitDo(t, dir, "branch", "--format=%(refname:short)"); out != "main\n" && out != "master\n" {
		t.Errorf("branches left: %q", out)
	}
	gitDo(t, dir, "fsck", "--strict")
}

func TestARegistrationOfSomethingElseStays(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	moved, locked := addTree(t, r, "orchestrate/run/moved"), addTree(t, r, "orchestrate/run/locked")
	gitDo(t, dir, "worktree", "move", moved.Dir, filepath.Join(realTemp(t), "elsewhere"))
	write(t, locked.Dir, "mine", "x")
	gitDo(t, dir, "worktree", "lock", "--reason", "I need it", locked.Dir)
	regs, err := r.Registrations()
	if err != nil || len(regs) != 2 {
		t.Fatalf("%+v, %v", regs, err)
	}
	for _, reg := range regs {
		if reg.GitDir == moved.git.gitDir && reg.Names(moved.Dir) {
			t.Error("the moved one is said to be where it was")
		}
		if reg.GitDir == locked.git.gitDir && (!reg.Locked || reg.Why != "I need it" || reg.Half || reg.Branch != locked.Branch) {
			t.Errorf("the locked one: %+v", reg)
		}
	}
	for _, tree := range []*Tree{moved, locked} {
		if err := r.RemoveTree(ctx, tree.Dir, tree.git.gitDir); err == nil {
			t.Errorf("%s was taken from what git knows", tree.Branch)
		}
		if _, err := os.Stat(tree.git.gitDir); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(locked.Dir, "mine")); err != nil {
		t.Error(err)
	}
}

func TestAHalfMadeRegistrationIsKnownAsOne(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	write(t, tree.git.gitDir, "locked", "initializing\n")
	write(t, tree.git.gitDir, "commondir", "")
	reg := registration(tree.git.gitDir)
	if !reg.Half || reg.Locked || !reg.Names(tree.Dir) {
		t.Fatalf("got %+v", reg)
	}
	if err := r.RemoveTree(context.Background(), tree.Dir, tree.git.gitDir); err != nil {
		t.Fatal(err)
	}
	gitDo(t, dir, "worktree", "list")
}

func TestWhatRefsLeadTo(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	tree := addTree(t, r, "orchestrate/run/job")
	write(t, tree.Dir, "a.txt", "changed\n")
	p, _ := capture(t, tree)
	ours := func(ref string) bool { return strings.HasPrefix(ref, "refs/heads/orchestrate/") }
	theirs := func() (all []Ref) {
		refs, err := r.Refs(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, ref := range refs {
			if !ours(ref.Name) {
				all = append(all, ref)
			}
			if ours(ref.Name) && ref.In != tree.Dir {
				t.Errorf("%s is said to be checked out in %q", ref.Name, ref.In)
			}
		}
		return all
	}
	never := strings.Repeat("1", 40)
	lost, err := r.Unreached(ctx, []string{p.Base, p.Commit, never}, theirs())
	if err != nil || lost[p.Base] || !lost[p.Commit] || !lost[never] {
		t.Errorf("before: %v, %v", lost, err)
	}
	gitDo(t, dir, "tag", "-a", "-m", "x", "kept", p.Commit)
	if lost, err = r.Unreached(ctx, []string{p.Commit}, theirs()); err != nil || lost[p.Commit] {
		t.Errorf("after: %v, %v", lost, err)
	}
	if ref, err := r.ReachedFrom(ctx, p.Commit, ours); err != nil || ref != "refs/tags/kept" {
		t.Errorf("reached from %q, %v", ref, err)
	}
	if ref, err := r.ReachedFrom(ctx, never, ours); err != nil || ref != "" {
		t.Errorf("what is not there is reached from %q, %v", ref, err)
	}
}
