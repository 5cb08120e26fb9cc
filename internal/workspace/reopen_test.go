package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var begun = time.Date(2026, 7, 30, 12, 0, 0, 0, time.UTC)

// captureAt is capture with the date of the attempt, as one does that may have to
// do it again.
func captureAt(t *testing.T, tree *Tree) (p Patch, patch string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "changes.patch")
	p, err := tree.Capture(context.Background(), CaptureRequest{PatchPath: file, Message: "work", Trailers: []string{"Job: j"}, At: begun})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return p, string(data)
}

// reopened is the tree as another process would have it, from what was recorded.
func reopened(t *testing.T, dir string, tree *Tree) *Tree {
	t.Helper()
	data, err := json.Marshal(tree.Place())
	if err != nil {
		t.Fatal(err)
	}
	var at TreePlace
	if err := json.Unmarshal(data, &at); err != nil {
		t.Fatal(err)
	}
	again, err := open(t, dir).OpenTree(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func TestATreeOpenedAgainIsCapturedTheSame(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	busy(t, tree.Dir)
	gitDo(t, tree.Dir, "checkout", "-q", "-b", "elsewhere")
	write(t, tree.Dir, ".git", "gitdir: /nowhere\n") // the agent's file decides nothing

	want, patch := captureAt(t, tree)
	for range 2 {
		p, again := captureAt(t, reopened(t, dir, tree))
		if diff := cmp.Diff(want, p); diff != "" {
			t.Errorf("captured again: %s", diff)
		}
		if again != patch {
			t.Errorf("the patch is another:\n%s\nwant\n%s", again, patch)
		}
	}
	if got := gitDo(t, dir, "log", "--format=%H", want.Base+"..orchestrate/run/job"); got != want.Commit+"\n" {
		t.Errorf("on the branch since the base: %q, want one snapshot, %s", got, want.Commit)
	}
	who := gitDo(t, dir, "log", "-1", "--format=%at %ct", want.Commit)
	if want := "1785412800 1785412800\n"; who != want {
		t.Errorf("the dates of the snapshot are %q, want %q", who, want)
	}
	files, err := r.Compare(context.Background(), want.Base, want.Commit)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Files, files); diff != "" {
		t.Errorf("base and snapshot compared: %s", diff)
	}
}

func TestACaptureWithoutDateThatIsRepeatedLeavesOneSnapshot(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	busy(t, tree.Dir)
	first, _ := capture(t, tree)
	second, _ := capture(t, reopened(t, dir, tree))
	if first.Tree != second.Tree {
		t.Errorf("trees %s and %s", first.Tree, second.Tree)
	}
	if got := gitDo(t, dir, "log", "--format=%H", first.Base+"..orchestrate/run/job"); got != second.Commit+"\n" {
		t.Errorf("on the branch since the base: %q, want %s", got, second.Commit)
	}
}

// Locks of git processes that were killed do not stop a capture.
func TestLocksOfAKilledGitDoNotStopACapture(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	busy(t, tree.Dir)
	for _, name := range []string{
		filepath.Join(tree.Place().GitDir, "HEAD.lock"),
		filepath.Join(tree.Place().GitDir, "index.lock"),
		filepath.Join(dir, ".git", "refs", "heads", "orchestrate", "run", "job.lock"),
	} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, _ := captureAt(t, tree)
	if got := strings.TrimSpace(gitDo(t, dir, "rev-parse", "orchestrate/run/job")); got != p.Commit {
		t.Errorf("the branch is at %s, want %s", got, p.Commit)
	}
	if got := gitDo(t, tree.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("status of the worktree after the capture:\n%s", got)
	}
	gitDo(t, tree.Dir, "checkout", "-q", "--detach") // the person can go on there
}

func TestGoneTreesAreToldWithBothPlaces(t *testing.T) {
	remove := func(t *testing.T, name string) {
		t.Helper()
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, harm := range map[string]func(t *testing.T, repo string, at TreePlace){
		"folder deleted":     func(t *testing.T, _ string, at TreePlace) { remove(t, at.Dir) },
		"registration gone":  func(t *testing.T, _ string, at TreePlace) { remove(t, at.GitDir) },
		"no HEAD":            func(t *testing.T, _ string, at TreePlace) { remove(t, filepath.Join(at.GitDir, "HEAD")) },
		"no commondir":       func(t *testing.T, _ string, at TreePlace) { remove(t, filepath.Join(at.GitDir, "commondir")) },
		"no index of ours":   func(t *testing.T, _ string, at TreePlace) { remove(t, filepath.Join(at.GitDir, baseIndex)) },
		"another repository": func(t *testing.T, _ string, at TreePlace) { write(t, at.GitDir, "commondir", realTemp(t)+"\n") },
		"pruned": func(t *testing.T, repo string, at TreePlace) {
			remove(t, at.Dir)
			gitDo(t, repo, "worktree", "prune", "--expire=now")
		},
		"removed by git": func(t *testing.T, repo string, at TreePlace) { gitDo(t, repo, "worktree", "remove", "--force", at.Dir) },
		"moved by git": func(t *testing.T, repo string, at TreePlace) {
			gitDo(t, repo, "worktree", "move", at.Dir, at.Dir+" moved")
			if err := os.Mkdir(at.Dir, 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"link in its place": func(t *testing.T, repo string, at TreePlace) {
			remove(t, at.Dir)
			if err := os.Symlink(repo, at.Dir); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := newRepo(t)
			at := addTree(t, r, "orchestrate/run/job").Place()
			harm(t, dir, at)
			_, err := open(t, dir).OpenTree(context.Background(), at)
			if !errors.Is(err, ErrTreeGone) || !strings.Contains(err.Error(), at.Dir) || !strings.Contains(err.Error(), at.GitDir) {
				t.Errorf("got %v; want ErrTreeGone with %s and %s", err, at.Dir, at.GitDir)
			}
		})
	}
}

func TestATreeIsOpenedOnlyWhereGitKeepsTheRepositorys(t *testing.T) {
	r, dir := newRepo(t)
	at := addTree(t, r, "orchestrate/run/job").Place()
	for _, gitDir := range []string{filepath.Join(dir, ".git"), realTemp(t), filepath.Join(at.GitDir, "..", "..", "hooks")} {
		other := at
		other.GitDir = gitDir
		if _, err := r.OpenTree(context.Background(), other); err == nil || errors.Is(err, ErrTreeGone) || !strings.Contains(err.Error(), gitDir) {
			t.Errorf("%s: %v", gitDir, err)
		}
	}
}

func TestATreeWhoseBaseIsMissingIsGone(t *testing.T) {
	r, _ := newRepo(t)
	ctx := context.Background()
	at := addTree(t, r, "orchestrate/run/job").Place()
	if there, err := r.Has(ctx, at.Base); err != nil || !there {
		t.Errorf("the base: %v, %v", there, err)
	}
	at.Base = strings.Repeat("1", 40)
	if there, err := r.Has(ctx, at.Base); err != nil || there {
		t.Errorf("a commit that is not there: %v, %v", there, err)
	}
	if _, err := r.OpenTree(ctx, at); !errors.Is(err, ErrTreeGone) || !strings.Contains(err.Error(), at.Base) {
		t.Errorf("got %v", err)
	}
}
