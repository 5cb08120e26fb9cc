package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// nest makes a repository with a commit in a folder of a worktree.
func nest(t *testing.T, dir, file string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	gitDo(t, dir, "init", "-q", "-b", "side")
	commitIn(t, dir, file)
}

func commitIn(t *testing.T, dir, file string) {
	t.Helper()
	write(t, dir, file, file+"\n")
	gitDo(t, dir, "add", "-A")
	gitDo(t, dir, "-c", "user.name=N", "-c", "user.email=n@example.invalid", "commit", "-q", "-m", file)
}

func nestedIn(t *testing.T, r *Repo, tree *Tree) string {
	t.Helper()
	looks, err := r.Looks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	why, err := looks.Nested(t.Context(), Registration{Dir: tree.Dir, GitDir: tree.git.gitDir})
	if err != nil {
		t.Fatal(err)
	}
	return why
}

func TestCommitsOfARepositoryInAWorktreeAreSaved(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	lib := filepath.Join(tree.Dir, "vendor", "my lib")
	nest(t, lib, "first")
	gitDo(t, lib, "-c", "user.name=N", "-c", "user.email=n@example.invalid", "tag", "-a", "-m", "x", "v1")
	gitDo(t, lib, "switch", "-q", "-c", "other")
	commitIn(t, lib, "second")
	gitDo(t, lib, "switch", "-q", "-d", "side")
	commitIn(t, lib, "third")
	for _, text := range []string{"older", "newer"} {
		write(t, lib, "third", text+"\n")
		gitDo(t, lib, "-c", "user.name=N", "-c", "user.email=n@example.invalid", "stash", "-q")
	}
	deep := filepath.Join(lib, "deep")
	nest(t, deep, "fourth")
	third := strings.TrimSpace(gitDo(t, lib, "rev-parse", "HEAD"))

	if why := nestedIn(t, r, tree); !strings.Contains(why, "at vendor/my lib has commits of its own") {
		t.Errorf("kept because of %q", why)
	}
	req := salvageOf(t, tree)
	if s, err := r.Salvage(t.Context(), req); err == nil || !strings.Contains(err.Error(), "vendor/my lib") {
		t.Fatalf("nobody gave it up, and it may go: %+v, %v", s, err)
	}
	req.Discarded = true
	s := salvage(t, r, req)
	again := salvage(t, r, req)
	if strings.Join(s.Beside, " ") != strings.Join(again.Beside, " ") {
		t.Errorf("saved twice: %q, then %q", s.Beside, again.Beside)
	}
	below := salvageRef + "-nested/vendor/my-lib/"
	for _, ref := range []string{below + "heads/side", below + "heads/other", below + "tags/v1", below + "HEAD", below + "deep/heads/side"} {
		if !strings.Contains(strings.Join(s.Beside, " "), ref) {
			t.Errorf("%s is not among %q", ref, s.Beside)
		}
	}
	move(t, tree.Dir, filepath.Join(t.TempDir(), "away"))
	gitDo(t, dir, "fsck", "--strict")
	if got := strings.TrimSpace(gitDo(t, dir, "rev-parse", below+"HEAD")); got != third {
		t.Errorf("HEAD was at %s and is saved as %s", third, got)
	}
	for at, want := range map[string]string{"heads/other:second": "second\n", "stash:third": "newer\n", "stash-1:third": "older\n"} {
		if got := gitDo(t, dir, "show", below+at); got != want {
			t.Errorf("%s is %q", at, got)
		}
	}
}

// The work of a job may have the files of a repository that it made: git does not tell it
// from any other folder then.
func TestARepositoryWhoseFilesAreTrackedIsSeen(t *testing.T) {
	r, _ := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	nest(t, filepath.Join(tree.Dir, "lib"), "first")
	if p, _ := capture(t, tree); len(p.Files) != 1 {
		t.Fatalf("captured %+v", p.Files)
	}
	if why := nestedIn(t, r, tree); !strings.Contains(why, "at lib") {
		t.Errorf("kept because of %q", why)
	}
}

func TestARepositoryWithoutCommitsOfItsOwnKeepsNothing(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, tree, at string){
		"empty": func(t *testing.T, _, at string) { gitDo(t, at, "init", "-q", "lib") },
		"as it was cloned": func(t *testing.T, _, at string) {
			from := filepath.Join(t.TempDir(), "from")
			nest(t, from, "first")
			gitDo(t, at, "clone", "-q", from, "lib")
		},
		"ignored": func(t *testing.T, _, at string) { nest(t, filepath.Join(at, "ignored", "lib"), "first") },
		"elsewhere": func(t *testing.T, _, at string) {
			nest(t, filepath.Join(at, "lib"), "first")
			git := filepath.Join(t.TempDir(), "git")
			move(t, filepath.Join(at, "lib", ".git"), git)
			write(t, at, "lib/.git", "gitdir: "+git+"\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := newRepo(t)
			tree := addTree(t, r, "orchestrate/run/job")
			make(t, dir, tree.Dir)
			if why := nestedIn(t, r, tree); why != "" {
				t.Errorf("kept because of %q", why)
			}
			salvage(t, r, salvageOf(t, tree))
		})
	}
}

// What cannot be copied whole is not said to be saved.
func TestAShallowRepositoryInAWorktreeStays(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	from := filepath.Join(t.TempDir(), "from")
	nest(t, from, "first")
	commitIn(t, from, "second")
	gitDo(t, tree.Dir, "clone", "-q", "--depth=1", "file://"+from, "lib")
	commitIn(t, filepath.Join(tree.Dir, "lib"), "third")
	req := salvageOf(t, tree)
	req.Discarded = true
	if s, err := r.Salvage(t.Context(), req); err == nil || !strings.Contains(err.Error(), "lib cannot be saved") {
		t.Errorf("got %+v, %v", s, err)
	}
	if refs := gitDo(t, dir, "for-each-ref", "refs/orchestrate"); refs != "" {
		t.Errorf("refs to what is not whole: %s", refs)
	}
}

func TestWhatIsOnlyStagedIsSaved(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	req := salvageOf(t, tree)
	write(t, tree.Dir, "a.txt", "staged\n")
	write(t, tree.Dir, "both.txt", "both\n")
	gitDo(t, tree.Dir, "add", "a.txt", "both.txt")
	if s := salvage(t, r, req); len(s.Beside) != 0 {
		t.Errorf("what the folder has was saved beside it: %q", s.Beside)
	}
	write(t, tree.Dir, "a.txt", "later\n")
	s := salvage(t, r, req)
	if len(s.Beside) != 1 || s.Beside[0] != salvageRef+"-staged" {
		t.Fatalf("got %q", s.Beside)
	}
	if got := gitDo(t, dir, "diff", "--name-only", tree.Base, s.Beside[0]); got != "a.txt\n" {
		t.Errorf("it changes %q", got)
	}
	if got := gitDo(t, dir, "show", s.Beside[0]+":a.txt"); got != "staged\n" {
		t.Errorf("got %q", got)
	}
}

// A program that works elsewhere may write into a worktree until it is set aside.
func TestWhatIsWrittenWhileAWorktreeIsSavedIsSavedToo(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	req := salvageOf(t, tree)
	write(t, tree.Dir, "early.txt", "early\n")
	salvage(t, r, req)
	write(t, tree.Dir, "late.txt", "late\n")
	var late Salvaged
	err := r.RemoveSaved(t.Context(), tree.Dir, req.GitDir, func(gone string) error {
		req.Dir = gone
		late = salvage(t, r, req)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := gitDo(t, dir, "ls-tree", "--name-only", late.Ref, "early.txt", "late.txt"); got != "early.txt\nlate.txt\n" {
		t.Errorf("saved: %q", got)
	}
}

// What is amiss in a folder that was set aside gives it its name back.
func TestAWorktreeThatFailsTheLastLookIsThereAgain(t *testing.T) {
	r, _ := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	err := r.RemoveSaved(t.Context(), tree.Dir, tree.git.gitDir, func(gone string) error {
		if _, err := os.Lstat(tree.Dir); err == nil {
			t.Error("it can still be found by its name")
		}
		return os.Mkdir(filepath.Join(gone, "a.txt"), 0o755)
	})
	if err == nil {
		t.Fatal("it is gone")
	}
	if _, err := os.Lstat(filepath.Join(tree.Dir, "a.txt")); err != nil {
		t.Error(err)
	}
}
