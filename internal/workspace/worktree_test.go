package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestManyWorktreesAtOnce(t *testing.T) {
	r, dir := newRepo(t)
	// An upstream start point is what made parallel adds collide.
	gitDo(t, dir, "config", "branch.autoSetupMerge", "always")
	ctx := context.Background()
	sha, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	second := open(t, dir) // as another process would have it
	root := realTemp(t)
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		repo := r
		if i%2 == 1 {
			repo = second
		}
		wg.Go(func() {
			_, errs[i] = repo.AddWorktree(ctx, filepath.Join(root, fmt.Sprint("t", i)), fmt.Sprint("orchestrate/run/j", i), sha)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(gitDo(t, dir, "worktree", "list"), "\n"); got != 17 {
		t.Errorf("%d worktrees, want 17", got)
	}
	if got := gitDo(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("status of the checkout:\n%s", got)
	}
}

func TestWaitingForATurnEndsWithTheContext(t *testing.T) {
	r, _ := newRepo(t)
	_, leave, err := r.turn(context.Background(), adding{Dir: "somewhere"})
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.AddWorktree(ctx, filepath.Join(t.TempDir(), "x"), "b", "HEAD"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestExistingBranchAndFolderAreLeftAlone(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	tree := addTree(t, r, "orchestrate/run/job")
	_, err := r.AddWorktree(ctx, filepath.Join(realTemp(t), "again"), "orchestrate/run/job", tree.Base)
	if !errors.Is(err, ErrBranchExists) || !strings.Contains(err.Error(), tree.Dir) || !strings.Contains(err.Error(), "git branch -m") {
		t.Errorf("existing branch: %v", err)
	}
	full := realTemp(t)
	write(t, full, "precious", "x")
	if _, err := r.AddWorktree(ctx, full, "orchestrate/run/other", tree.Base); err == nil {
		t.Error("a folder with files was taken")
	}
	if data, err := os.ReadFile(filepath.Join(full, "precious")); err != nil || string(data) != "x" {
		t.Errorf("the folder's file: %q, %v", data, err)
	}
	below := filepath.Join(full, "precious", "tree") // cannot be made: precious is a file
	if _, err := r.AddWorktree(ctx, below, "orchestrate/run/other", tree.Base); err == nil {
		t.Error("a worktree below a file was made")
	}
	if _, err := gitTry(t, dir, "rev-parse", "--verify", "-q", "orchestrate/run/other"); err == nil {
		t.Error("the branch of the refused worktree was left behind")
	}
}

// hostile is a repository whose every handle that could run a program is turned
// into one that leaves a trace.
func hostile(t *testing.T, gitDir, trace string) {
	t.Helper()
	script := "#!/bin/sh\necho \"$0\" >>'" + trace + "'\ncat\n"
	for _, hook := range []string{"post-checkout", "pre-commit", "post-commit", "post-index-change", "reference-transaction", "fsmonitor"} {
		write(t, gitDir, "hooks/"+hook, script)
		if err := os.Chmod(filepath.Join(gitDir, "hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	prog := filepath.Join(gitDir, "hooks", "fsmonitor")
	link := filepath.Join(filepath.Dir(trace), "prog")
	if _, err := os.Lstat(link); errors.Is(err, os.ErrNotExist) {
		if err := os.Symlink(prog, link); err != nil {
			t.Fatal(err)
		}
	}
	config := fmt.Sprintf("[core]\n\tfsmonitor = %[1]s\n\tpager = %[1]s\n\teditor = %[1]s\n\tsshCommand = %[1]s\n"+
		"[diff]\n\texternal = %[1]s\n[diff \"x\"]\n\ttextconv = %[1]s\n\tcommand = %[1]s\n"+
		"[filter \"x.y\"]\n\tclean = %[1]s\n\tsmudge = %[1]s\n\trequired = true\n[filter \"p\"]\n\tprocess = %[1]s\n\trequired = true\n"+
		"[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = %[1]s\n", link)
	f, err := os.OpenFile(filepath.Join(gitDir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(config); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNothingInARepositoryRuns(t *testing.T) {
	_, dir := newRepo(t)
	ctx := context.Background()
	trace := filepath.Join(realTemp(t), "trace")
	write(t, dir, ".gitattributes", "*.txt filter=x.y diff=x\n*.dat filter=p diff=x\n")
	gitDo(t, dir, "add", "-A")
	gitDo(t, dir, "commit", "-q", "-m", "attributes")
	hostile(t, filepath.Join(dir, ".git"), trace)
	r := open(t, dir)

	if _, err := r.Fingerprint(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Dirty(ctx); err != nil {
		t.Fatal(err)
	}
	tree := addTree(t, r, "orchestrate/run/job")

	// The agent's turn: its own .git, a nested repository with a hostile configuration.
	if err := os.Remove(filepath.Join(tree.Dir, ".git")); err != nil {
		t.Fatal(err)
	}
	gitDo(t, tree.Dir, "init", "-q")
	hostile(t, filepath.Join(tree.Dir, ".git"), trace)
	nested := filepath.Join(tree.Dir, "nested")
	write(t, nested, "n.txt", "n\n")
	gitDo(t, nested, "init", "-q")
	gitDo(t, nested, "add", "-A")
	gitDo(t, nested, "commit", "-q", "-m", "n")
	hostile(t, filepath.Join(nested, ".git"), trace)
	write(t, tree.Dir, "a.txt", "changed\n")
	write(t, tree.Dir, "bin.dat", "\x00changed")

	p, _ := capture(t, tree)
	want := map[string]string{"a.txt": "M", "bin.dat": "M", "nested/n.txt": "A"}
	if diff := cmp.Diff(want, changeMap(p.Files)); diff != "" {
		t.Error(diff)
	}
	if _, err := r.SnapshotTree(ctx); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(trace); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("programs of the repository ran:\n%s", data)
	}
	// The trap itself works: the person's own git falls into it.
	if out, err := gitTry(t, dir, "status"); err != nil {
		t.Log(out)
	}
	if _, err := os.Stat(trace); err != nil {
		t.Errorf("the test's trap never springs: %v", err)
	}
}

func TestCallersGitVariablesAndReplacementsPlayNoPart(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("GIT_INDEX_FILE", "/nowhere/index")
	t.Setenv("GIT_WORK_TREE", "/nowhere")
	write(t, tree.Dir, "a.txt", "changed\n")
	// A replacement object could make the base look like the change.
	blob := strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD:a.txt"))
	other := strings.TrimSpace(gitDo(t, tree.Dir, "hash-object", "-w", "a.txt"))
	gitDo(t, dir, "replace", blob, other)
	p, _ := capture(t, tree)
	if diff := cmp.Diff(map[string]string{"a.txt": "M"}, changeMap(p.Files)); diff != "" {
		t.Error(diff)
	}
	if p.Bytes == 0 {
		t.Error("the patch is empty")
	}
}
