package workspace

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const salvageRef = "refs/orchestrate/salvage/run/job"

func salvageOf(t *testing.T, tree *Tree) SalvageRequest {
	return SalvageRequest{
		Dir: tree.Dir, GitDir: tree.git.gitDir, Commit: tree.Base, Parent: tree.Base, Base: tree.Base,
		Ref: salvageRef, Patch: filepath.Join(t.TempDir(), "job.patch"),
		About: CaptureRequest{Message: "salvage", At: time.Unix(1700000000, 0)},
	}
}

func salvage(t *testing.T, r *Repo, req SalvageRequest) Salvaged {
	t.Helper()
	s, err := r.Salvage(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatNoCommitHoldsIsSaved(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	req := salvageOf(t, tree)
	if s := salvage(t, r, req); s.Ref != "" {
		t.Fatalf("a tree as it was made was saved: %+v", s)
	}
	write(t, tree.Dir, "new/a file", "untracked\n")
	write(t, tree.Dir, "a.txt", "changed\n")
	write(t, tree.Dir, "bin.dat", "\x00\x01changed")
	write(t, tree.Dir, "ignored/x", "not saved\n")
	if err := os.Remove(filepath.Join(tree.Dir, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	gitDo(t, tree.Dir, "update-index", "--assume-unchanged", "a.txt") // hides nothing
	s := salvage(t, r, req)
	if s.Ref != salvageRef || s.Patch != req.Patch || len(s.Files) != 4 {
		t.Fatalf("got %+v", s)
	}
	if got := strings.TrimSpace(gitDo(t, dir, "rev-parse", s.Ref+"^")); got != tree.Base {
		t.Errorf("its parent is %s", got)
	}
	want := strings.TrimSpace(gitDo(t, dir, "rev-parse", s.Ref+"^{tree}"))
	if got := appliesTo(t, dir, tree.Base, s.Patch); got != want {
		t.Error("the patch is not what the ref holds")
	}
	if out, err := gitTry(t, dir, "cat-file", "-e", s.Ref+":ignored/x"); err == nil {
		t.Errorf("what git ignores was saved: %s", out)
	}
	gitDo(t, dir, "fsck", "--strict")
}

func TestASalvageRefIsNeverMoved(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	req := salvageOf(t, tree)
	write(t, tree.Dir, "a.txt", "changed\n")
	first := salvage(t, r, req)
	req.About.At = time.Unix(1700000999, 0) // later, the same work
	if again := salvage(t, r, req); again.Ref != first.Ref || again.Commit != first.Commit {
		t.Errorf("the same work was saved twice: %+v", again)
	}
	write(t, tree.Dir, "a.txt", "changed again\n")
	second := salvage(t, r, req)
	if second.Ref != salvageRef+"-2" || !strings.HasSuffix(second.Patch, "job-2.patch") {
		t.Errorf("got %+v", second)
	}
	if got := strings.TrimSpace(gitDo(t, dir, "rev-parse", salvageRef)); got != first.Commit {
		t.Error("the first one was moved")
	}
}

func TestATreeThatGitForgotIsSavedAllTheSame(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	write(t, tree.Dir, "a.txt", "changed\n")
	if err := os.RemoveAll(tree.git.gitDir); err != nil {
		t.Fatal(err)
	}
	req := salvageOf(t, tree)
	req.GitDir = ""
	s := salvage(t, r, req)
	if got := gitDo(t, dir, "show", s.Ref+":a.txt"); got != "changed\n" || len(s.Files) != 1 {
		t.Errorf("saved %q, %+v", got, s)
	}
}

func TestWhatWasNeverThereIsNoWork(t *testing.T) {
	r, _ := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	for _, name := range []string{"a.txt", "run.sh"} { // cut off while git wrote them
		if err := os.Remove(filepath.Join(tree.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	req := salvageOf(t, tree)
	req.Unused = true
	if s := salvage(t, r, req); s.Ref != "" {
		t.Errorf("got %+v", s)
	}
	write(t, tree.Dir, "mine.txt", "by hand\n")
	if s := salvage(t, r, req); s.Ref == "" {
		t.Error("what somebody put there was not saved")
	}
}

func TestACommitAloneIsKept(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	write(t, tree.Dir, "a.txt", "changed\n")
	p, _ := capture(t, tree)
	s := salvage(t, r, SalvageRequest{Commit: p.Commit, Parent: p.Commit, Base: p.Base, Keep: true, Ref: salvageRef})
	if got := strings.TrimSpace(gitDo(t, dir, "rev-parse", s.Ref)); got != p.Commit || s.Patch != "" {
		t.Errorf("got %+v", s)
	}
}

func TestASalvagedPatchIsReviewed(t *testing.T) {
	r, _ := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	write(t, tree.Dir, "a.txt", "secret\n")
	req := salvageOf(t, tree)
	req.About.Review = func(patch []byte) ([]byte, error) {
		return bytes.ReplaceAll(patch, []byte("secret"), []byte("***")), nil
	}
	s := salvage(t, r, req)
	data, err := os.ReadFile(s.Patch)
	if err != nil || bytes.Contains(data, []byte("secret")) || !bytes.Contains(data, []byte("***")) {
		t.Errorf("the patch is %q, %v", data, err)
	}
}

func TestNothingOfATreeRunsWhenItIsSaved(t *testing.T) {
	r, _ := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	trace := filepath.Join(realTemp(t), "trace")
	write(t, tree.Dir, ".gitattributes", "*.txt filter=x.y diff=x\n*.dat filter=p diff=x\n")
	write(t, tree.Dir, "a.txt", "changed\n")
	hostile(t, r.common, trace)
	nested := filepath.Join(tree.Dir, "nested")
	write(t, nested, "n.txt", "n\n")
	gitDo(t, nested, "init", "-q")
	hostile(t, filepath.Join(nested, ".git"), trace)
	reg := registration(tree.git.gitDir)
	if n, err := held(t, r, reg); err != nil || n != 3 {
		t.Errorf("%d files, %v", n, err)
	}
	if s := salvage(t, r, salvageOf(t, tree)); len(s.Files) != 3 {
		t.Errorf("got %+v", s)
	}
	if data, err := os.ReadFile(trace); err == nil {
		t.Errorf("programs of the repository ran:\n%s", data)
	}
}

func held(t *testing.T, r *Repo, reg Registration) (int, error) {
	t.Helper()
	looks, err := r.Looks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return looks.Held(t.Context(), reg, false)
}
