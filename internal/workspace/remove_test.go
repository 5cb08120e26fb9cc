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
	if err := RemoveRun(dir, identity(t, dir)); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(top)
	if err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(outside, "file")); err != nil {
		t.Error(err)
	}
	if err := RemoveRun(dir, identity(t, top)); err != nil {
		t.Errorf("a folder that is gone: %v", err)
	}
	link := filepath.Join(top, "link")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	if err := RemoveRun(link, identity(t, outside)); err == nil {
		t.Error("a link was removed as a folder")
	}
	if err := RemoveRun(outside, identity(t, top)); err == nil {
		t.Error("another folder in the place of the one that is meant was removed")
	}
}

func identity(t *testing.T, dir string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// Whatever leads elsewhere on the way to a tree, or stands in its place, nothing there is
// removed, and git's registration stays.
func TestNothingThatALinkLeadsToIsRemoved(t *testing.T) {
	for name, put := range map[string]func(t *testing.T, tree, mine string){
		"a link above it": func(t *testing.T, tree, mine string) {
			swap(t, filepath.Dir(tree), mine)
		},
		"a link above that": func(t *testing.T, tree, mine string) {
			up := filepath.Dir(filepath.Dir(tree))
			write(t, mine, filepath.Base(filepath.Dir(tree))+"/"+filepath.Base(tree)+"/file", "mine")
			swap(t, up, mine)
		},
		"a link in its place": func(t *testing.T, tree, mine string) {
			swap(t, tree, filepath.Join(mine, filepath.Base(tree)))
		},
		"a folder in its place": func(t *testing.T, tree, mine string) {
			move(t, tree, tree+".was")
			move(t, filepath.Join(mine, filepath.Base(tree)), tree)
		},
		"a copy of it behind a link": func(t *testing.T, tree, mine string) {
			link, err := os.ReadFile(filepath.Join(tree, ".git"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, mine, filepath.Base(tree)+"/.git", string(link))
			swap(t, filepath.Dir(tree), mine)
		},
		"a copy of one that git has forgotten": func(t *testing.T, tree, mine string) {
			link, err := os.ReadFile(filepath.Join(tree, ".git"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, mine, filepath.Base(tree)+"/.git", string(link))
			write(t, strings.TrimSpace(strings.TrimPrefix(string(link), "gitdir: ")), "gitdir", "")
			swap(t, filepath.Dir(tree), mine)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := newRepo(t)
			tree, mine := addTreeIn(t, r, filepath.Join(realTemp(t), "run", "trees", "job")), realTemp(t)
			write(t, mine, filepath.Base(tree.Dir)+"/file", "mine")
			put(t, tree.Dir, mine)
			if err := r.RemoveTree(t.Context(), tree.Dir, tree.git.gitDir); err == nil {
				t.Error("something was removed")
			}
			if data, err := os.ReadFile(filepath.Join(tree.Dir, "file")); err != nil || string(data) != "mine" {
				t.Errorf("%q, %v", data, err)
			}
			if _, err := os.Stat(tree.git.gitDir); err != nil {
				t.Error(err)
			}
		})
	}
}

// A folder that takes the place of the right one between the look and the removal gets
// its name back.
func TestAFolderThatIsSwappedWhileItIsLookedAtStays(t *testing.T) {
	top := realTemp(t)
	write(t, top, "dir/file", "ours")
	write(t, top, "mine/file", "mine")
	dir := filepath.Join(top, "dir")
	if _, err := setAside(dir, func(*os.Root) error {
		move(t, dir, filepath.Join(top, "was"))
		move(t, filepath.Join(top, "mine"), dir)
		return nil
	}, gonePrefix); err == nil {
		t.Error("it was set aside")
	}
	if data, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(data) != "mine" {
		t.Errorf("%q, %v", data, err)
	}
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func addTreeIn(t *testing.T, r *Repo, dir string) *Tree {
	t.Helper()
	head, err := r.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := r.AddWorktree(t.Context(), dir, "orchestrate/run/job", head)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// swap puts a link to another folder in the place of one.
func swap(t *testing.T, dir, to string) {
	t.Helper()
	move(t, dir, filepath.Join(realTemp(t), "was"))
	if err := os.Symlink(to, dir); err != nil {
		t.Fatal(err)
	}
}

// A tree that was made through a link is one of ours as long as the link leads there.
func TestATreeBehindALinkThatWasAlwaysThereGoes(t *testing.T) {
	r, _ := newRepo(t)
	top := realTemp(t)
	link := filepath.Join(top, "link")
	for _, err := range []error{os.Mkdir(filepath.Join(top, "there"), 0o700), os.Symlink("there", link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	tree := addTreeIn(t, r, filepath.Join(link, "run", "job"))
	if err := r.RemoveTree(t.Context(), tree.Dir, tree.git.gitDir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(top, "there", "run", "job")); err == nil {
		t.Error("it is still there")
	}
}

func TestWhatIsHalfRemovedIsFoundAgain(t *testing.T) {
	top := realTemp(t)
	write(t, top, "run/file", "x")
	gone, err := SetRunAside(filepath.Join(top, "run"), identity(t, filepath.Join(top, "run"))) // and then the power fails
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
	counts := func(ref string) bool { return !ours(ref) }
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
	if ref, err := r.ReachedFrom(ctx, p.Commit, counts); err != nil || ref != "refs/tags/kept" {
		t.Errorf("reached from %q, %v", ref, err)
	}
	if ref, err := r.ReachedFrom(ctx, never, counts); err != nil || ref != "" {
		t.Errorf("what is not there is reached from %q, %v", ref, err)
	}
}
