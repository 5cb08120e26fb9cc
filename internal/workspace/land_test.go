package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// landing is a checkout on main and a commit that it could be moved to.
type target struct {
	*Repo
	t   *testing.T
	dir string
	m   Move
}

// newTarget makes the move that change is; the checkout is left before it.
func newTarget(t *testing.T, change func(dir string)) target {
	t.Helper()
	r, dir := newRepo(t)
	from := strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD"))
	to := side(t, dir, "work", func() { change(dir) })
	return target{r, t, dir, Move{Ref: "refs/heads/main", From: from, To: to, Because: "test"}}
}

func (g target) land(begin func() error) ([]string, error) {
	g.t.Helper()
	ctx := context.Background()
	lock, err := g.LockCheckout(ctx, "a test", nil)
	if err != nil {
		g.t.Fatal(err)
	}
	defer lock.Close()
	if begin == nil {
		begin = func() error { return nil }
	}
	return g.Land(ctx, g.m, lock, begin)
}

func (g target) relearn() (bool, []string) {
	g.t.Helper()
	ctx := context.Background()
	lock, err := g.LockCheckout(ctx, "a test", nil)
	if err != nil {
		g.t.Fatal(err)
	}
	defer lock.Close()
	done, why, err := g.Relearn(ctx, g.m, lock)
	if err != nil {
		g.t.Fatal(err)
	}
	return done, why
}

// state is all that a person sees of the checkout.
func (g target) state() string {
	g.t.Helper()
	var b strings.Builder
	b.WriteString(gitDo(g.t, g.dir, "rev-parse", "HEAD") + gitDo(g.t, g.dir, "status", "--porcelain", "--ignored") + gitDo(g.t, g.dir, "ls-files", "-s"))
	err := filepath.WalkDir(g.dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		if to, err := os.Readlink(p); err == nil {
			b.WriteString(p + "\x00" + to + "\x00")
			return nil
		}
		data, err := os.ReadFile(p)
		b.WriteString(p + "\x00" + string(data) + "\x00")
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return b.String()
}

// arrived makes sure that checkout, index and branch are at the new commit, and that
// nothing of ours is left.
func (g target) arrived() {
	g.t.Helper()
	if at := strings.TrimSpace(gitDo(g.t, g.dir, "rev-parse", "main")); at != g.m.To {
		g.t.Errorf("main is at %s, want %s", at, g.m.To)
	}
	if status := gitDo(g.t, g.dir, "status", "--porcelain"); status != "" {
		g.t.Errorf("status: %s", status)
	}
	for _, name := range []string{"index.lock", landingIndex} {
		if _, err := os.Lstat(filepath.Join(g.dir, ".git", name)); err == nil {
			g.t.Errorf("%s is left", name)
		}
	}
}

// all changes everything that a change can be.
func all(t *testing.T) func(string) {
	return func(dir string) {
		write(t, dir, "a.txt", "one\nTWO\nthree\n")
		write(t, dir, "new/ä deep/file", "new\n")
		gitDo(t, dir, "rm", "-q", "gone.txt")
		gitDo(t, dir, "rm", "-q", "bin.dat")
		write(t, dir, "bin.dat/now", "a folder\n")
		gitDo(t, dir, "update-index", "--chmod=+x", "run.sh")
		if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestACheckoutMovesWhole(t *testing.T) {
	g := newTarget(t, all(t))
	why, err := g.land(nil)
	if err != nil || why != nil {
		t.Fatal(why, err)
	}
	g.arrived()
	if log := gitDo(t, g.dir, "reflog", "-1"); !strings.Contains(log, "test") {
		t.Errorf("the reflog says %q", log)
	}
}

func TestADetachedCheckoutMovesAndANewBranchLeavesItAlone(t *testing.T) {
	g := newTarget(t, all(t))
	before := g.state()
	g.m.Ref, g.m.New = "refs/heads/fresh", true
	if why, err := g.land(nil); err != nil || why != nil {
		t.Fatal(why, err)
	}
	if at := strings.TrimSpace(gitDo(t, g.dir, "rev-parse", "fresh")); at != g.m.To || g.state() != before {
		t.Error("a new branch has the work, and the checkout is as it was")
	}
	if why, err := g.land(nil); err != nil || len(why) != 1 {
		t.Errorf("%v, %v: a branch that is there is not moved", why, err)
	}
	gitDo(t, g.dir, "checkout", "-q", "--detach")
	g.m.Ref, g.m.New = detached, false
	if why, err := g.land(nil); err != nil || why != nil {
		t.Fatal(why, err)
	}
	if at := strings.TrimSpace(gitDo(t, g.dir, "rev-parse", "HEAD")); at != g.m.To {
		t.Error("HEAD has not moved")
	}
	if at := strings.TrimSpace(gitDo(t, g.dir, "rev-parse", "main")); at != g.m.From {
		t.Error("main has moved")
	}
}

// Whatever a person did to the target since, or would lose, is told, and all is as it was.
func TestAMoveIsRefusedAndNothingChanges(t *testing.T) {
	cases := map[string]struct {
		do   func(t *testing.T, dir string)
		want string
	}{
		"edited": {func(t *testing.T, dir string) { write(t, dir, "run.sh", "mine\n") }, "run.sh"},
		"staged": {func(t *testing.T, dir string) {
			write(t, dir, "a.txt", "mine\n")
			gitDo(t, dir, "add", "a.txt")
		}, "a.txt"},
		"untracked":         {func(t *testing.T, dir string) { write(t, dir, "mine", "mine\n") }, "mine"},
		"ignored, in place": {func(t *testing.T, dir string) { write(t, dir, "new.log", "mine\n") }, "new.log"},
		"ignored, above":    {func(t *testing.T, dir string) { write(t, dir, "deep.log", "mine\n") }, "deep.log"},
		"ignored, below": {func(t *testing.T, dir string) {
			write(t, dir, "ignored/x", "mine\n")
		}, "ignored/x"},
		"told not to look at": {func(t *testing.T, dir string) {
			gitDo(t, dir, "update-index", "--assume-unchanged", "a.txt")
			write(t, dir, "a.txt", "mine\n")
		}, "a.txt"},
		"told to skip": {func(t *testing.T, dir string) {
			gitDo(t, dir, "update-index", "--skip-worktree", "a.txt")
			write(t, dir, "a.txt", "mine\n")
		}, "a.txt"},
		"another branch": {func(t *testing.T, dir string) { gitDo(t, dir, "checkout", "-q", "-b", "mine") }, "branch mine"},
		"another commit": {func(t *testing.T, dir string) { gitDo(t, dir, "commit", "-q", "--allow-empty", "-m", "mine") }, "is at"},
		"a merge": {func(t *testing.T, dir string) {
			write(t, dir, ".git/MERGE_HEAD", strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD"))+"\n")
		}, "a merge is under way"},
		"a rebase":    {func(t *testing.T, dir string) { write(t, dir, ".git/rebase-merge/x", "") }, "a rebase is under way"},
		"a bisection": {func(t *testing.T, dir string) { write(t, dir, ".git/BISECT_LOG", "") }, "a bisection is under way"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := newTarget(t, func(dir string) {
				write(t, dir, "a.txt", "one\nTWO\nthree\n")
				for _, f := range []string{"new.log", "deep.log/in", "ignored"} {
					write(t, dir, f, "new\n")
					gitDo(t, dir, "add", "-f", f)
				}
			})
			c.do(t, g.dir)
			before := g.state()
			why, err := g.land(func() error { t.Error("it began"); return nil })
			if err != nil || !strings.Contains(strings.Join(why, "\n"), c.want) {
				t.Errorf("%q, %v; want something about %q", why, err, c.want)
			}
			if g.state() != before {
				t.Error("something changed")
			}
		})
	}
}

// While another git has the index nothing is done, and its lock stays.
func TestAGitAtWorkIsLeftAlone(t *testing.T) {
	g := newTarget(t, all(t))
	write(t, g.dir, ".git/index.lock", "")
	if _, err := g.land(nil); err == nil || !strings.Contains(err.Error(), "index.lock") {
		t.Errorf("%v: want an error that names the lock", err)
	}
	if _, err := os.Stat(filepath.Join(g.dir, ".git", "index.lock")); err != nil {
		t.Error("somebody else's lock is gone")
	}
}

// Nothing that the repository names is started by a move.
func TestNothingRunsWhenACheckoutMoves(t *testing.T) {
	g := newTarget(t, all(t))
	ran := filepath.Join(t.TempDir(), "ran")
	for _, hook := range []string{"pre-commit", "post-checkout", "post-merge", "pre-merge-commit", "post-index-change", "reference-transaction", "commit-msg"} {
		write(t, g.dir, ".git/hooks/"+hook, "#!/bin/sh\ntouch '"+ran+"'\nexit 1\n")
		if err := os.Chmod(filepath.Join(g.dir, ".git", "hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, g.dir, ".git/info/attributes", "* filter=x diff=x merge=x\n")
	for _, key := range []string{"core.fsmonitor", "filter.x.smudge", "filter.x.clean", "filter.x.process", "diff.x.textconv", "diff.external", "merge.x.driver", "core.editor", "gpg.program"} {
		gitDo(t, g.dir, "config", key, "touch '"+ran+"'; sleep 1000")
	}
	gitDo(t, g.dir, "config", "commit.gpgSign", "true")
	g.Repo = open(t, g.dir)
	if why, err := g.land(nil); err != nil || why != nil {
		t.Fatal(why, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("something ran")
	}
}

// A move that was cut off at any moment is finished, or was not begun.
func TestAMoveThatWasCutOff(t *testing.T) {
	half := errors.New("cut off")
	cases := map[string]struct {
		cut  func(g target) // leaves what a death leaves
		done bool
	}{
		"before anything": {func(g target) {
			_, err := g.land(func() error { return half })
			if !errors.Is(err, half) {
				t.Error(err)
			}
		}, false},
		"with a lock, files half written": {func(g target) {
			write(t, g.dir, ".git/index.lock", lockMark+g.m.To+"\n")
			write(t, g.dir, "a.txt", "one\nTWO\nthree\n")
			if err := os.Remove(filepath.Join(g.dir, "bin.dat")); err != nil {
				t.Fatal(err)
			}
		}, true},
		"all files written": {func(g target) {
			if err := g.moveFiles(context.Background(), g.m, nil); err != nil {
				t.Fatal(err)
			}
		}, true},
		"the branch moved, the index not": {func(g target) {
			write(t, g.dir, ".git/index.lock", lockMark+g.m.To+"\n")
			if err := errors.Join(g.moveFiles(context.Background(), g.m, nil), g.moveRef(context.Background(), g.m)); err != nil {
				t.Fatal(err)
			}
		}, true},
		"all of it": {func(g target) {
			if why, err := g.land(nil); err != nil || why != nil {
				t.Fatal(why, err)
			}
		}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := newTarget(t, all(t))
			c.cut(g)
			done, why := g.relearn()
			if done != c.done || why != nil {
				t.Fatalf("done %v, %q", done, why)
			}
			if !done {
				g.m.To = g.m.From
			}
			g.arrived()
		})
	}
}

// What a person wrote into a half moved checkout is theirs: it is named and not touched.
func TestAHalfMovedCheckoutKeepsWhatThePersonWrote(t *testing.T) {
	g := newTarget(t, all(t))
	if err := g.moveFiles(context.Background(), g.m, nil); err != nil {
		t.Fatal(err)
	}
	write(t, g.dir, "a.txt", "the person's\n")
	done, why := g.relearn()
	if done || len(why) != 1 || !strings.Contains(why[0], "a.txt") {
		t.Errorf("done %v, %q", done, why)
	}
	if data, err := os.ReadFile(filepath.Join(g.dir, "a.txt")); err != nil || string(data) != "the person's\n" {
		t.Errorf("%q, %v: what the person wrote is gone", data, err)
	}
	gitDo(t, g.dir, "checkout", g.m.From, "--", "a.txt") // as the sentence says
	if done, why := g.relearn(); !done || why != nil {
		t.Errorf("done %v, %q", done, why)
	}
	g.arrived()
}

// Also when it is the only file that was moved: when it is as it was made, the move is finished.
func TestTheOnlyMovedFileWasChangedByThePerson(t *testing.T) {
	g := newTarget(t, func(dir string) { write(t, dir, "new", "new\n") })
	if err := g.moveFiles(context.Background(), g.m, nil); err != nil {
		t.Fatal(err)
	}
	write(t, g.dir, "new", "the person's\n")
	for range 2 {
		if done, why := g.relearn(); done || len(why) != 1 {
			t.Errorf("done %v, %q", done, why)
		}
	}
	write(t, g.dir, "new", "new\n")
	if done, why := g.relearn(); !done || why != nil {
		t.Errorf("done %v, %q", done, why)
	}
	g.arrived()
}

// What they put where a file of the result belongs is named and stays, be it a folder in
// the place of a file, or a file or link in the place of a folder.
func TestAHalfMovedCheckoutKeepsWhatIsInTheWay(t *testing.T) {
	for name, c := range map[string]struct {
		put  []string // files of the person, in place of what the move wrote
		link string   // a link of theirs
		want string
	}{
		"a folder where a file was":      {put: []string{"out/p"}, want: "out/p"},
		"one with ignored files":         {put: []string{"out/q.log", "out/deep/r.log"}, want: "out/deep/r.log, out/q.log"},
		"a file where a folder was":      {put: []string{"new"}, want: "new"},
		"a link where a folder was":      {link: "new", want: "new"},
		"a repository where a file was":  {put: []string{"out/.git/HEAD"}, want: "out/.git/HEAD"},
		"a folder where a file is going": {put: []string{"bin.dat/now/p"}, want: "bin.dat/now/p"},
	} {
		for _, moved := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", branch moved: ", moved), func(t *testing.T) {
				g := newTarget(t, func(dir string) {
					all(t)(dir)
					write(t, dir, "out", "built\n")
				})
				write(t, g.dir, ".git/info/exclude", "*.log\n")
				if err := g.moveFiles(context.Background(), g.m, nil); err != nil {
					t.Fatal(err)
				}
				if moved {
					if err := g.moveRef(context.Background(), g.m); err != nil {
						t.Fatal(err)
					}
				}
				for _, name := range append(c.put, c.link) {
					for at := name; at != "." && at != ""; at = filepath.Dir(at) {
						if info, err := os.Lstat(filepath.Join(g.dir, at)); err == nil && (at == name || !info.IsDir()) {
							if err := os.RemoveAll(filepath.Join(g.dir, at)); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
				for _, name := range c.put {
					write(t, g.dir, name, "the person's\n")
				}
				if c.link != "" {
					if err := os.Symlink(t.TempDir(), filepath.Join(g.dir, c.link)); err != nil {
						t.Fatal(err)
					}
				}
				before := g.state()
				if _, why := g.relearn(); len(why) != 1 || !strings.Contains(why[0], ": "+c.want+"; ") {
					t.Errorf("%q", why)
				}
				if after := g.state(); after != before {
					t.Errorf("before\n%s\nafter\n%s", before, after)
				}
			})
		}
	}
}

// Other work of the person, done after the cut, stays beside.
func TestAHalfMovedCheckoutKeepsOtherWork(t *testing.T) {
	g := newTarget(t, func(dir string) { write(t, dir, "a.txt", "one\nTWO\nthree\n") })
	if err := g.moveFiles(context.Background(), g.m, nil); err != nil {
		t.Fatal(err)
	}
	write(t, g.dir, "run.sh", "the person's\n")
	if done, why := g.relearn(); !done || why != nil {
		t.Errorf("done %v, %q", done, why)
	}
	if status := gitDo(t, g.dir, "status", "--porcelain"); status != " M run.sh\n" {
		t.Errorf("status %q", status)
	}
}

func TestNamesOfNewBranches(t *testing.T) {
	r, dir := newRepo(t)
	gitDo(t, dir, "branch", "has/below")
	gitDo(t, dir, "checkout", "-q", "-b", "second")
	for name, ok := range map[string]bool{
		"fresh": true, "a/b c": false, "main": false, "has": false, "has/below/it": false, "has/other": true,
		"-x": false, "HEAD": false, "a..b": false, "x.lock": false, "": false, "ünï": true,
		"refs/heads/x": false, "refs": true, "@{-1}": false, "@": false,
	} {
		if err := r.NewBranch(context.Background(), name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestAChangeInsideASubmoduleIsOneOfTheCheckout(t *testing.T) {
	r, dir := newRepo(t)
	sub := filepath.Join(realTemp(t), "sub")
	gitDo(t, realTemp(t), "init", "-q", sub)
	write(t, sub, "file", "x\n")
	gitDo(t, sub, "add", "-A")
	gitDo(t, sub, "commit", "-q", "-m", "sub")
	gitDo(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub, "sub dir")
	gitDo(t, dir, "commit", "-q", "-m", "sub")
	if why, err := r.Unclean(context.Background(), "HEAD", ""); err != nil || why != nil {
		t.Fatal(why, err)
	}
	write(t, dir, "sub dir/file", "mine\n")
	why, err := r.Unclean(context.Background(), "HEAD", "")
	if err != nil || len(why) != 1 || !strings.Contains(why[0], "sub dir/file") {
		t.Errorf("%q, %v", why, err)
	}
}

// What a filter of the person's makes cannot be written here: it is told before.
func TestFilesThatAFilterMakesAreTold(t *testing.T) {
	g := newTarget(t, func(dir string) {
		write(t, dir, ".gitattributes", "*.bin filter=odd.name\n*.other filter=nobodys\n")
		for _, name := range []string{"in/a.bin", "b.other", "c.txt"} {
			write(t, dir, name, "x\n")
		}
		gitDo(t, dir, "rm", "-q", "bin.dat")
	})
	ctx := context.Background()
	if files, err := g.Unwritable(ctx, g.m.From, g.m.To); err != nil || files != nil {
		t.Errorf("%q, %v: nobody has a filter", files, err)
	}
	gitDo(t, g.dir, "config", "filter.odd.name.smudge", "false")
	if files, err := g.Unwritable(ctx, g.m.From, g.m.To); err != nil || len(files) != 1 || files[0] != "in/a.bin" {
		t.Errorf("%q, %v", files, err)
	}
}

// A git that cannot merge without a checkout is told with the version that is needed.
func TestWhatIsSaidOfAnOldGit(t *testing.T) {
	bin := t.TempDir()
	old := "#!/bin/sh\ncase \"$*\" in *' version') echo git version 2.37.9 ;; *' config '*) exit 1 ;; *) echo usage >&2; exit 129 ;; esac\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(old), 0o755); err != nil {
		t.Fatal(err)
	}
	r, _ := newRepo(t)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	_, err := r.Merge(context.Background(), "a", "b")
	if err == nil || !strings.Contains(err.Error(), "git 2.38 or newer is needed") {
		t.Errorf("%v", err)
	}
}

// The person's checkout may itself be a linked worktree, or a sparse one, which stays so.
func TestLinkedAndSparseCheckoutsMove(t *testing.T) {
	g := newTarget(t, all(t))
	linked := filepath.Join(realTemp(t), "linked "+oddName)
	gitDo(t, g.dir, "worktree", "add", "-q", "-b", "beside", linked, g.m.From)
	there := target{open(t, linked), t, linked, g.m}
	there.m.Ref = "refs/heads/beside"
	if why, err := there.land(nil); err != nil || why != nil {
		t.Fatal(why, err)
	}
	if at, status := gitDo(t, linked, "rev-parse", "HEAD"), gitDo(t, linked, "status", "--porcelain"); strings.TrimSpace(at) != g.m.To || status != "" {
		t.Errorf("at %s, status %q", at, status)
	}

	gitDo(t, g.dir, "sparse-checkout", "set", "--no-cone", "/a.txt")
	if why, err := g.land(nil); err != nil || why != nil {
		t.Fatal(why, err)
	}
	g.arrived()
	entries, err := os.ReadDir(g.dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v: a sparse checkout has .git and a.txt", entries, err)
	}
}

// A half moved sparse checkout is finished without what it leaves out.
func TestASparseMoveThatWasCutOff(t *testing.T) {
	g := newTarget(t, all(t))
	gitDo(t, g.dir, "sparse-checkout", "set", "--no-cone", "/a.txt")
	if err := g.moveFiles(context.Background(), g.m, nil); err != nil {
		t.Fatal(err)
	}
	if done, why := g.relearn(); !done || why != nil {
		t.Fatalf("done %v, %q", done, why)
	}
	g.arrived()
}

// What is advised for each file that is in the way works, for one that is new in the
// result too, staged or not.
func TestWhatIsAdvisedForFilesInTheWayWorks(t *testing.T) {
	g := newTarget(t, func(dir string) {
		for _, name := range []string{"a.txt", "new", "staged"} {
			write(t, dir, name, "of the result\n")
		}
	})
	if err := g.moveFiles(context.Background(), g.m, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.txt", "new", "staged"} {
		write(t, g.dir, name, "the person's\n")
	}
	gitDo(t, g.dir, "add", "staged")
	done, why := g.relearn()
	from := fmt.Sprintf("%.12s", g.m.From)
	for _, advice := range []string{"git checkout " + from + " -- FILE: a.txt;", "git reset -q " + from + " -- FILE: new, staged;"} {
		if done || len(why) != 1 || !strings.Contains(why[0], advice) {
			t.Errorf("done %v, %q lacks %q", done, why, advice)
		}
	}
	gitDo(t, g.dir, "checkout", from, "--", "a.txt")
	for _, name := range []string{"new", "staged"} {
		move(t, filepath.Join(g.dir, name), filepath.Join(realTemp(t), name))
		gitDo(t, g.dir, "reset", "-q", from, "--", name)
	}
	if done, why := g.relearn(); !done || why != nil {
		t.Errorf("done %v, %q", done, why)
	}
	g.arrived()
}
