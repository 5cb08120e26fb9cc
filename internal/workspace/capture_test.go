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

// busy does to a tree all that a writer may do to one.
func busy(t *testing.T, dir string) {
	t.Helper()
	write(t, dir, "a.txt", "one\nTWO\nthree\n")
	write(t, dir, "bin.dat", "\x00\xff\x00changed")
	write(t, dir, "new dir/\"quoted\" ünï\nline.txt", "no newline at end")
	write(t, dir, "empty", "")
	write(t, dir, "ignored/secret", "x")
	write(t, dir, "build.log", "x")
	if err := os.Remove(filepath.Join(dir, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.txt", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
}

func busyChanges() map[string]string {
	return map[string]string{
		"a.txt": "M", "bin.dat": "M", "new dir/\"quoted\" ünï\nline.txt": "A",
		"empty": "A", "gone.txt": "D", "run.sh": "M", "link": "A",
	}
}

func TestCaptureInAWorktree(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	tree := addTree(t, r, "orchestrate/run/job")
	busy(t, tree.Dir)

	files, err := tree.Changed(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(busyChanges(), changeMap(files)); diff != "" {
		t.Errorf("changed paths: %s", diff)
	}
	p, patch := capture(t, tree)
	if diff := cmp.Diff(busyChanges(), changeMap(p.Files)); diff != "" {
		t.Errorf("captured paths: %s", diff)
	}
	if got := appliesTo(t, dir, p.Base, patch); got != p.Tree {
		t.Errorf("the patch gives tree %s, want %s", got, p.Tree)
	}
	if got := strings.TrimSpace(gitDo(t, dir, "rev-parse", "orchestrate/run/job")); got != p.Commit {
		t.Errorf("the branch is at %s, want %s", got, p.Commit)
	}
	if got := gitDo(t, tree.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("status of the worktree after the capture:\n%s", got)
	}
	if got := gitDo(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("status of the checkout after the capture:\n%s", got)
	}
	lines := map[string]Change{}
	for _, c := range p.Files {
		lines[c.Path] = Change{Added: c.Added, Deleted: c.Deleted, Binary: c.Binary}
	}
	if diff := cmp.Diff(map[string]Change{
		"a.txt": {Added: 1, Deleted: 1}, "bin.dat": {Binary: true}, "new dir/\"quoted\" ünï\nline.txt": {Added: 1},
		"empty": {}, "gone.txt": {Deleted: 1}, "run.sh": {}, "link": {Added: 1},
	}, lines); diff != "" {
		t.Errorf("counted lines: %s", diff)
	}
	who := gitDo(t, dir, "log", "-1", "--format=%an <%ae>|%cn|%P", p.Commit)
	if want := "orchestrate <orchestrate@localhost>|orchestrate|" + p.Base + "\n"; who != want {
		t.Errorf("the commit is by %q, want %q", who, want)
	}
}

func TestSameSizeChangeInTheSameInstantIsSeen(t *testing.T) {
	r, _ := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	file := filepath.Join(tree.Dir, "a.txt")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, tree.Dir, "a.txt", "one\nTWO\nthree\n")
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	p, _ := capture(t, tree)
	if diff := cmp.Diff(map[string]string{"a.txt": "M"}, changeMap(p.Files)); diff != "" {
		t.Error(diff)
	}
}

func TestCaptureOfNothing(t *testing.T) {
	r, _ := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	p, patch := capture(t, tree)
	if p.Commit != p.Base || p.Bytes != 0 || len(p.Files) != 0 {
		t.Errorf("got %+v", p)
	}
	if data, err := os.ReadFile(patch); err != nil || len(data) != 0 {
		t.Errorf("patch: %q, %v", data, err)
	}
}

func TestWhatTheAgentCommittedIsCaptured(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	write(t, tree.Dir, "a.txt", "committed\n")
	gitDo(t, tree.Dir, "commit", "-q", "-am", "by the agent")
	gitDo(t, tree.Dir, "checkout", "-q", "-b", "elsewhere")
	write(t, tree.Dir, "b.txt", "not committed\n")
	gitDo(t, tree.Dir, "update-index", "--assume-unchanged", "run.sh")
	write(t, tree.Dir, "run.sh", "hidden change\n")

	p, patch := capture(t, tree)
	if diff := cmp.Diff(map[string]string{"a.txt": "M", "b.txt": "A", "run.sh": "M"}, changeMap(p.Files)); diff != "" {
		t.Error(diff)
	}
	if got := appliesTo(t, dir, p.Base, patch); got != p.Tree {
		t.Errorf("the patch gives tree %s, want %s", got, p.Tree)
	}
	if got := gitDo(t, tree.Dir, "status", "--porcelain", "--branch"); got != "## orchestrate/run/job\n" {
		t.Errorf("status of the worktree after the capture: %s", got)
	}
}

func TestNestedRepositoryIsCapturedAsFiles(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	nested := filepath.Join(tree.Dir, "app one")
	write(t, nested, "main.c", "int main;\n")
	write(t, nested, ".gitignore", "*.o\n")
	write(t, nested, "main.o", "x")
	gitDo(t, nested, "init", "-q")
	write(t, nested, "lib/deep.c", "int deep;\n")
	gitDo(t, filepath.Join(nested, "lib"), "init", "-q")

	p, patch := capture(t, tree)
	want := map[string]string{"app one/main.c": "A", "app one/.gitignore": "A", "app one/lib/deep.c": "A"}
	if diff := cmp.Diff(want, changeMap(p.Files)); diff != "" {
		t.Error(diff)
	}
	if got := appliesTo(t, dir, p.Base, patch); got != p.Tree {
		t.Errorf("the patch gives tree %s, want %s", got, p.Tree)
	}
}

func TestReviewDecidesWhatReachesTheDisk(t *testing.T) {
	r, _ := newRepo(t)
	ctx := context.Background()
	tree := addTree(t, r, "orchestrate/run/job")
	write(t, tree.Dir, "a.txt", "hunter2\n")
	file := filepath.Join(t.TempDir(), "p")
	hide := func(p []byte) ([]byte, error) {
		return []byte(strings.ReplaceAll(string(p), "hunter2", "[REDACTED:x]")), nil
	}
	if _, err := tree.Capture(ctx, CaptureRequest{PatchPath: file, Review: hide}); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(file); err != nil || strings.Contains(string(data), "hunter2") || !strings.Contains(string(data), "[REDACTED:x]") {
		t.Errorf("patch on disk: %q, %v", data, err)
	}

	no := errors.New("no")
	other := file + "2"
	if _, err := tree.Capture(ctx, CaptureRequest{PatchPath: other, Review: func([]byte) ([]byte, error) { return nil, no }}); !errors.Is(err, no) {
		t.Errorf("refused review: %v", err)
	}
	if _, err := os.Stat(other); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the refused patch is on disk: %v", err)
	}
	if _, err := tree.Capture(ctx, CaptureRequest{MaxBytes: 10}); err == nil || !strings.Contains(err.Error(), "over 10 bytes") {
		t.Errorf("patch over its bound: %v", err)
	}
}

func TestSharedCheckoutKeepsThePersonsChangesApart(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	write(t, dir, "a.txt", "one\ntwo\nthree, by the person\n")
	write(t, dir, "persons.txt", "untracked, by the person\n")
	write(t, dir, "staged.txt", "staged by the person\n")
	gitDo(t, dir, "add", "staged.txt")
	before := gitDo(t, dir, "status", "--porcelain")

	base, err := r.SnapshotTree(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got := gitDo(t, dir, "status", "--porcelain"); got != before {
		t.Errorf("the snapshot changed the status to\n%s", got)
	}
	tree, err := SharedTree(ctx, r, base)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "a.txt", "ONE, by the job\ntwo\nthree, by the person\n")
	write(t, dir, "jobs.txt", "by the job\n")
	head := gitDo(t, dir, "rev-parse", "HEAD")
	refs := gitDo(t, dir, "for-each-ref")

	p, patch := capture(t, tree)
	if diff := cmp.Diff(map[string]string{"a.txt": "M", "jobs.txt": "A"}, changeMap(p.Files)); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(patch)
	if err != nil {
		t.Fatal(err)
	}
	for _, theirs := range []string{"+three, by the person", "untracked", "staged by"} {
		if strings.Contains(string(text), theirs) {
			t.Errorf("the patch carries %q", theirs)
		}
	}
	if gitDo(t, dir, "rev-parse", "HEAD") != head || gitDo(t, dir, "for-each-ref") != refs {
		t.Error("the capture moved a branch")
	}
	if got := gitDo(t, dir, "status", "--porcelain"); got != before+"?? jobs.txt\n" && !strings.Contains(got, "A  staged.txt") {
		t.Errorf("the person's index was changed:\n%s", got)
	}
	if line, ok := r.LineAt(ctx, p.Commit, "a.txt", 1); !ok || line != "ONE, by the job" {
		t.Errorf("line of the snapshot: %q, %v", line, ok)
	}
}

func TestSubmodulesAreNotMistakenForWork(t *testing.T) {
	_, dir := newRepo(t)
	lib := realTemp(t)
	gitDo(t, lib, "init", "-q")
	write(t, lib, "l.c", "x")
	gitDo(t, lib, "add", "-A")
	gitDo(t, lib, "commit", "-q", "-m", "lib")
	gitDo(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "lib dir")
	gitDo(t, dir, "commit", "-q", "-m", "with a submodule")
	r := open(t, dir)
	tree := addTree(t, r, "orchestrate/run/job")
	p, _ := capture(t, tree)
	if len(p.Files) != 0 || len(p.Unseen) != 0 {
		t.Errorf("an untouched tree: %+v", p)
	}
	write(t, tree.Dir, "lib dir/new.c", "written by the job\n")
	p, _ = capture(t, tree)
	if diff := cmp.Diff([]string{"lib dir"}, p.Unseen); diff != "" {
		t.Error(diff)
	}
}

func TestSparseAndSplitCheckouts(t *testing.T) {
	for name, set := range map[string][]string{
		"sparse": {"sparse-checkout", "set", "--no-cone", "/a.txt"},
		"split":  {"update-index", "--split-index"},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := newRepo(t)
			ctx := context.Background()
			gitDo(t, dir, set...)
			before, err := r.Fingerprint(ctx)
			if err != nil {
				t.Fatal(err)
			}
			base, err := r.SnapshotTree(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if head := strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD^{tree}")); head != base {
				t.Errorf("the snapshot of a clean checkout is %s, want %s", base, head)
			}
			write(t, dir, "a.txt", "changed\n")
			shared, err := SharedTree(ctx, r, base)
			if err != nil {
				t.Fatal(err)
			}
			own := addTree(t, r, "orchestrate/run/job")
			write(t, own.Dir, "a.txt", "changed\n")
			for _, tree := range []*Tree{shared, own} {
				p, _ := capture(t, tree)
				if diff := cmp.Diff(map[string]string{"a.txt": "M"}, changeMap(p.Files)); diff != "" {
					t.Errorf("%s: %s", tree.Dir, diff)
				}
			}
			after, err := r.Fingerprint(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"a.txt"}, before.Diff(after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTreeOnNoBranch(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "")
	refs := gitDo(t, dir, "for-each-ref")
	write(t, tree.Dir, "x", "x")
	files, err := tree.Changed(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"x": "A"}, changeMap(files)); diff != "" {
		t.Error(diff)
	}
	if gitDo(t, dir, "for-each-ref") != refs {
		t.Error("looking made a branch")
	}
}

// What a program did is never said to be the person's doing, nor signed with their key.
func TestASnapshotIsNeitherByThePersonNorSigned(t *testing.T) {
	r, dir := newRepo(t)
	trace := filepath.Join(realTemp(t), "trace")
	hostile(t, filepath.Join(dir, ".git"), trace)
	gitDo(t, dir, "config", "user.name", "Person")
	gitDo(t, dir, "config", "user.signingKey", "ABCDEF")
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "person@example.org")
	}
	tree := addTree(t, r, "orchestrate/run/job")
	write(t, tree.Dir, "new.txt", "x\n")
	p, err := tree.Capture(context.Background(), CaptureRequest{Author: "orchestrate (claude)", Trailers: []string{"Orchestrate-Run: r", "Orchestrate-Attempt: 2"}})
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(trace); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("programs of the repository ran:\n%s", data)
	}
	got, err := r.git.run(context.Background(), "cat-file", "commit", p.Commit)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"author orchestrate (claude) <orchestrate@localhost> ", "committer orchestrate <orchestrate@localhost> ", "\n\nOrchestrate-Run: r\nOrchestrate-Attempt: 2\n"} {
		if !strings.Contains(string(got), line) {
			t.Errorf("no %q in the commit:\n%s", line, got)
		}
	}
	if strings.Contains(string(got), "gpgsig") || strings.Contains(strings.ToLower(string(got)), "person") {
		t.Errorf("the commit is the person's, or signed:\n%s", got)
	}
}
