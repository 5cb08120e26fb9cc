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

const someRun = "20260101-000000"

// refsOf is what a person sees of branches and worktrees.
func refsOf(t *testing.T, dir string) string {
	t.Helper()
	refs, _ := gitTry(t, dir, "for-each-ref", "--format=%(refname) %(objectname)") // with what it says of damaged ones
	return refs + gitDo(t, dir, "worktree", "list", "--porcelain")
}

// staleOn leaves a registration on a branch that is gone, of a worktree that is gone.
func staleOn(t *testing.T, dir, branch string) {
	t.Helper()
	gone := filepath.Join(realTemp(t), "gone")
	gitDo(t, dir, "worktree", "add", "-q", "-b", "elsewhere", gone)
	gitDo(t, gone, "symbolic-ref", "HEAD", "refs/heads/"+branch)
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
}

func TestTheBranchesOfARunFindRoom(t *testing.T) {
	for name, c := range map[string]struct {
		there func(t *testing.T, dir string)
		want  string
	}{
		"nothing":             {func(*testing.T, string) {}, "orchestrate"},
		"other runs":          {branches("orchestrate/20250101-000000/a", "orchestrate/mine"), "orchestrate"},
		"a branch":            {branches("orchestrate"), "orchestrate-2"},
		"two":                 {branches("orchestrate", "orchestrate-2"), "orchestrate-3"},
		"other letters":       {branches("Orchestrate"), "orchestrate-2"},
		"other letters, deep": {branches("ORCHESTRATE/x"), "orchestrate-2"},
		"the run":             {branches("orchestrate/" + someRun), "orchestrate-2"},
		"packed": {func(t *testing.T, dir string) {
			gitDo(t, dir, "branch", "orchestrate")
			gitDo(t, dir, "pack-refs", "--all")
		}, "orchestrate-2"},
		"damaged":                    {func(t *testing.T, dir string) { write(t, dir, ".git/refs/heads/orchestrate", "torn") }, "orchestrate-2"},
		"worktree of a branch gone":  {func(t *testing.T, dir string) { staleOn(t, dir, "orchestrate") }, "orchestrate-2"},
		"a lock of the prefix's own": {func(t *testing.T, dir string) { write(t, dir, ".git/refs/heads/orchestrate.lock", "") }, "orchestrate"},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := newRepo(t)
			c.there(t, dir)
			before := refsOf(t, dir)
			got, err := r.BranchPrefix(context.Background(), someRun)
			if err != nil || got != c.want {
				t.Fatalf("got %q, %v, want %q", got, err, c.want)
			}
			if diff := cmp.Diff(before, refsOf(t, dir)); diff != "" {
				t.Error(diff)
			}
			addTree(t, r, got+"/"+someRun+"/job")
		})
	}
}

func branches(names ...string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		for _, name := range names {
			gitDo(t, dir, "branch", name)
		}
	}
}

func TestANameThatIsTakenOrBlockedIsLeftAlone(t *testing.T) {
	const name = "orchestrate/" + someRun + "/job"
	lock := filepath.FromSlash(".git/refs/heads/" + name + ".lock")
	for what, there := range map[string]func(t *testing.T, dir string){
		"the branch": branches(name),
		"packed": func(t *testing.T, dir string) {
			gitDo(t, dir, "branch", name)
			gitDo(t, dir, "pack-refs", "--all")
		},
		"one above":            branches("orchestrate/" + someRun),
		"one far above":        branches("orchestrate"),
		"one below":            branches(name + "/x"),
		"damaged":              func(t *testing.T, dir string) { write(t, dir, ".git/refs/heads/"+name, "torn") },
		"the lock of the dead": func(t *testing.T, dir string) { write(t, dir, lock, "") },
		"checked out": func(t *testing.T, dir string) {
			gitDo(t, dir, "worktree", "add", "-q", "-b", name, filepath.Join(realTemp(t), "tree"))
		},
		"stale, its branch gone": func(t *testing.T, dir string) { staleOn(t, dir, name) },
		"stale, other letters":   func(t *testing.T, dir string) { staleOn(t, dir, strings.ToUpper(name)) },
	} {
		t.Run(what, func(t *testing.T) {
			r, dir := newRepo(t)
			base := strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD"))
			there(t, dir)
			_, lockErr := os.Stat(filepath.Join(dir, lock))
			before := refsOf(t, dir)
			tree := filepath.Join(realTemp(t), "job")
			_, err := r.AddWorktree(context.Background(), tree, name, base)
			if !errors.Is(err, ErrBranchExists) || !strings.Contains(err.Error(), "nothing of it was touched") {
				t.Errorf("got %v", err)
			}
			if diff := cmp.Diff(before, refsOf(t, dir)); diff != "" {
				t.Error(diff)
			}
			if _, err := os.Stat(filepath.Join(dir, lock)); errors.Is(err, os.ErrNotExist) != errors.Is(lockErr, os.ErrNotExist) {
				t.Errorf("the lock of its ref: %v, before: %v", err, lockErr)
			}
			if _, err := os.Lstat(tree); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder: %v", err)
			}
			if _, err := r.AddWorktree(context.Background(), tree, "orchestrate-2/"+someRun+"/job", base); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestATagOfTheSameNameMisleadsNobody(t *testing.T) {
	r, dir := newRepo(t)
	gitDo(t, dir, "commit", "-q", "--allow-empty", "-m", "second")
	gitDo(t, dir, "tag", "orchestrate/run/job", "HEAD~1")
	tree := addTree(t, r, "orchestrate/run/job")
	head := strings.TrimSpace(gitDo(t, tree.Dir, "rev-parse", "HEAD"))
	if head != tree.Base || strings.TrimSpace(gitDo(t, tree.Dir, "symbolic-ref", "HEAD")) != "refs/heads/orchestrate/run/job" {
		t.Errorf("it is at %s, want %s", head, tree.Base)
	}
}
