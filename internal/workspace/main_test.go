package workspace

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdVar); dir != "" {
		holdForEver(dir)
		return
	}
	if dir := os.Getenv(addVar); dir != "" {
		addEight(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// sh runs git as a person would, with a configuration of its own.
func gitDo(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := gitTry(t, dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func gitTry(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=person", "-c", "user.email=person@example.invalid", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	cmd.Env = environment(os.Environ(), false)
	for i, kv := range cmd.Env {
		if strings.HasPrefix(kv, "GIT_AUTHOR_") || strings.HasPrefix(kv, "GIT_COMMITTER_") {
			cmd.Env[i] = "UNUSED="
		}
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// oddName is a folder name that breaks careless quoting.
const oddName = `it's a "repo": naïve ünï $HOME`

// newRepo makes a checkout with a few files at an awkward path.
func newRepo(t *testing.T) (*Repo, string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	dir := filepath.Join(realTemp(t), oddName)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	gitDo(t, dir, "init", "-q")
	write(t, dir, "a.txt", "one\ntwo\nthree\n")
	write(t, dir, "gone.txt", "to be deleted\n")
	write(t, dir, "run.sh", "#!/bin/sh\n")
	write(t, dir, "bin.dat", "\x00\x01\x02")
	write(t, dir, ".gitignore", "ignored/\n*.log\n")
	gitDo(t, dir, "add", "-A")
	gitDo(t, dir, "commit", "-q", "-m", "base")
	return open(t, dir), dir
}

func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t *testing.T, dir string) *Repo {
	t.Helper()
	r, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func addTree(t *testing.T, r *Repo, branch string) *Tree {
	t.Helper()
	ctx := context.Background()
	sha, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := r.AddWorktree(ctx, filepath.Join(realTemp(t), "tree "+oddName), branch, sha)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func capture(t *testing.T, tree *Tree) (Patch, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "changes.patch")
	p, err := tree.Capture(context.Background(), CaptureRequest{PatchPath: file, Message: "work"})
	if err != nil {
		t.Fatal(err)
	}
	return p, file
}

// appliesTo applies the patch to a fresh clone at base and returns the tree it gives.
func appliesTo(t *testing.T, repo, base, patch string) string {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "clone")
	gitDo(t, t.TempDir(), "clone", "-q", "--shared", repo, clone)
	gitDo(t, clone, "checkout", "-q", "--detach", base)
	gitDo(t, clone, "apply", "--index", patch)
	return strings.TrimSpace(gitDo(t, clone, "write-tree"))
}

func changeMap(files []Change) map[string]string {
	m := map[string]string{}
	for _, f := range files {
		m[f.Path] = f.Status
	}
	return m
}
