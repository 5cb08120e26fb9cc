package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// addVar makes the test program add eight worktrees and end; it names the checkout.
const addVar = "TEST_ADD_EIGHT"

// addEight adds eight worktrees at once beside the checkout dir.
func addEight(dir string) {
	if err := eight(dir, filepath.Join(filepath.Dir(dir), "other"), "other"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// eight adds eight worktrees at once, from what origin/main is.
func eight(dir, root, prefix string) error {
	ctx := context.Background()
	r, err := Open(ctx, dir)
	if err != nil {
		return err
	}
	base, err := r.Resolve(ctx, "origin/main")
	if err != nil {
		return err
	}
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			name := fmt.Sprint("j", i)
			_, errs[i] = r.AddWorktree(ctx, filepath.Join(root, name), prefix+"/"+name, base)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// clone is a checkout with an upstream.
func clone(t *testing.T) string {
	t.Helper()
	_, dir := newRepo(t)
	top := realTemp(t)
	gitDo(t, top, "clone", "-q", "--bare", dir, "origin.git")
	gitDo(t, top, "clone", "-q", "origin.git", "project")
	at := filepath.Join(top, "project")
	gitDo(t, at, "config", "branch.autoSetupMerge", "always") // what made parallel adds collide
	return at
}

func TestEightAtOnceFiveTimesBesideAnotherProcess(t *testing.T) {
	dir := clone(t)
	config, err := os.ReadFile(filepath.Join(dir, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	for round := range 5 {
		other := exec.Command(os.Args[0], "-test.run=^$")
		other.Env = append(os.Environ(), addVar+"="+dir)
		var said strings.Builder
		other.Stderr = &said
		if round == 0 { // its names are free only once
			if err := other.Start(); err != nil {
				t.Fatal(err)
			}
		}
		if err := eight(dir, realTemp(t), fmt.Sprint("orchestrate/r", round)); err != nil {
			t.Error(err)
		}
		if round == 0 {
			if err := other.Wait(); err != nil {
				t.Error(err, said.String())
			}
		}
		if got := gitDo(t, dir, "status", "--porcelain"); got != "" {
			t.Errorf("status of the checkout:\n%s", got)
		}
	}
	if got := strings.Count(gitDo(t, dir, "worktree", "list"), "\n"); got != 1+6*8 {
		t.Errorf("%d worktrees, want 49", got)
	}
	if now, err := os.ReadFile(filepath.Join(dir, ".git", "config")); err != nil || string(now) != string(config) {
		t.Errorf("the configuration changed (%v):\n%s", err, now)
	}
	gitDo(t, dir, "fsck", "--strict")
}

func TestAFreshTreeIsCleanForGit(t *testing.T) {
	r, _ := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	if got := gitDo(t, tree.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("status of the tree:\n%s", got)
	}
	entries, err := os.ReadDir(tree.Place().GitDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".lock") || e.Name() == "locked" || e.Name() == "ORIG_HEAD" {
			t.Errorf("%s is left in the registration", e.Name())
		}
	}
}

func TestTwoAreMadeAtATime(t *testing.T) {
	r, dir := newRepo(t)
	r.making <- struct{}{}
	addTree(t, r, "orchestrate/run/second")
	r.making <- struct{}{}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.AddWorktree(ctx, filepath.Join(realTemp(t), "third"), "orchestrate/run/third", "HEAD"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := refsOf(t, dir); strings.Contains(got, "third") {
		t.Errorf("a third was begun:\n%s", got)
	}
}

// slowGit is a git that stops for good, or fails, at one command.
const slowGit = `#!/bin/sh
case " $* " in
*" $TEST_STOP_AT "*)
	[ -z "$TEST_FIRST" ] || "$TEST_GIT" "$@"
	echo at >"$TEST_THERE"
	[ -n "$TEST_FAIL" ] && exit 1
	exec sleep 600 ;;
esac
exec "$TEST_GIT" "$@"
`

func TestAnAddThatDoesNotComeToItsEndLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct{ at, first, fail string }{
		"cancelled before it is registered": {"worktree add", "", ""},
		"cancelled when it is registered":   {"worktree add", "yes", ""},
		"cancelled while it is filled":      {"read-tree", "", ""},
		"cancelled when it is filled":       {"read-tree", "yes", ""},
		"not registered":                    {"worktree add", "", "yes"},
		"not filled":                        {"read-tree", "", "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := newRepo(t)
			gitDo(t, dir, "branch", "orchestrate/run/theirs")
			base := strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD"))
			before := refsOf(t, dir)
			there := filepath.Join(realTemp(t), "there")
			restore := gitInstead(t, slowGit, "TEST_STOP_AT="+c.at, "TEST_FIRST="+c.first, "TEST_FAIL="+c.fail, "TEST_THERE="+there)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			go func() { // ends with the add
				for ctx.Err() == nil {
					if _, err := os.Stat(there); err == nil && c.fail == "" {
						cancel()
					}
					time.Sleep(time.Millisecond)
				}
			}()
			tree := filepath.Join(realTemp(t), "job")
			_, err := r.AddWorktree(ctx, tree, "orchestrate/run/job", base)
			if err == nil || c.fail == "" && !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			restore()
			if now := refsOf(t, dir); now != before {
				t.Errorf("left behind:\n%s\nbefore:\n%s", now, before)
			}
			for _, path := range []string{tree, filepath.Join(dir, ".git", "worktrees", "job"), filepath.Join(dir, ".git", "refs", "heads", "orchestrate", "run", "job.lock")} {
				if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s: %v", path, err)
				}
			}
			if _, err := r.AddWorktree(context.Background(), tree, "orchestrate/run/job", base); err != nil {
				t.Errorf("again: %v", err)
			}
		})
	}
}

// gitInstead puts a script in git's place, which finds the real one in TEST_GIT.
func gitInstead(t *testing.T, script string, env ...string) (restore func()) {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := realTemp(t)
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, kv := range append(env, "TEST_GIT="+program) {
		key, value, _ := strings.Cut(kv, "=")
		t.Setenv(key, value)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+path)
	return func() { t.Setenv("PATH", path) }
}

func TestACrashBetweenRegistrationAndFilesStopsNobody(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	base := strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD"))
	root := realTemp(t)
	dead := filepath.Join(root, "job")
	half, err := r.register(ctx, dead, "orchestrate/run/job", base)
	if err != nil {
		t.Fatal(err)
	}
	write(t, half.Place().GitDir, "index.lock", "")
	write(t, dead, "a.txt", "one\n")
	next := open(t, dir) // the engine that goes on
	if _, err := next.AddWorktree(ctx, filepath.Join(root, "job.a2"), "orchestrate/run/job.a2", base); err != nil {
		t.Fatal(err)
	}
	gitDo(t, dir, "worktree", "list")
	gitDo(t, dir, "gc", "--quiet")
	gitDo(t, dir, "fsck", "--strict")
	if got := gitDo(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("status of the checkout:\n%s", got)
	}
	all, err := next.Registrations()
	if err != nil || len(all) != 2 || !all[0].Names(dead) || all[0].Branch != "orchestrate/run/job" {
		t.Errorf("registrations: %+v, %v", all, err)
	}
}

func TestABranchThatNoTreeCameForIsWithdrawn(t *testing.T) {
	for name, c := range map[string]struct {
		since func(t *testing.T, dir string)
		kept  bool
	}{
		"untouched":         {func(*testing.T, string) {}, false},
		"moved since":       {func(t *testing.T, dir string) { gitDo(t, dir, "branch", "-f", "orchestrate/run/job", "HEAD~1") }, true},
		"checked out since": {func(t *testing.T, dir string) { gitDo(t, dir, "checkout", "-q", "orchestrate/run/job") }, true},
		"gone":              {func(t *testing.T, dir string) { gitDo(t, dir, "branch", "-D", "orchestrate/run/job") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := newRepo(t)
			gitDo(t, dir, "commit", "-q", "--allow-empty", "-m", "second")
			base := strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD"))
			dead := adding{Dir: filepath.Join(realTemp(t), "job"), Branch: "orchestrate/run/job", Claimed: base}
			if err := r.claim(context.Background(), dead.Branch, base); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(dead)
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, ".git/orchestrate/add", string(text))
			c.since(t, dir)
			addTree(t, r, "orchestrate/run/next")
			if kept := strings.Contains(refsOf(t, dir), "orchestrate/run/job "); kept != c.kept {
				t.Errorf("kept: %v\n%s", kept, refsOf(t, dir))
			}
		})
	}
}

func TestARegisteredFolderIsNotTakenAgain(t *testing.T) {
	r, dir := newRepo(t)
	tree := addTree(t, r, "orchestrate/run/job")
	if err := os.RemoveAll(tree.Dir); err != nil {
		t.Fatal(err)
	}
	before := refsOf(t, dir)
	_, err := r.AddWorktree(context.Background(), tree.Dir, "orchestrate/run/again", tree.Base)
	if err == nil || !strings.Contains(err.Error(), "registered") {
		t.Errorf("got %v", err)
	}
	if now := refsOf(t, dir); now != before {
		t.Errorf("now:\n%s\nbefore:\n%s", now, before)
	}
}

func TestAPathThatIsTooLongIsNamed(t *testing.T) {
	r, dir := newRepo(t)
	long := realTemp(t)
	for len(long) < longestPath() {
		long = filepath.Join(long, strings.Repeat("x", 200))
	}
	_, err := r.AddWorktree(context.Background(), long, "orchestrate/run/job", strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD")))
	if err == nil || !strings.Contains(err.Error(), long) || !strings.Contains(err.Error(), "worktree_root") || !strings.Contains(err.Error(), fmt.Sprint(longestPath())) {
		t.Errorf("got %v", err)
	}
	if got := refsOf(t, dir); strings.Contains(got, "orchestrate/") {
		t.Errorf("a branch was left:\n%s", got)
	}
}
