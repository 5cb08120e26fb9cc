package workspace

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// side makes a branch of the checkout in which change was done, and returns its commit.
// The checkout is then on main again.
func side(t *testing.T, dir, branch string, change func()) string {
	t.Helper()
	gitDo(t, dir, "checkout", "-q", "-b", branch, "main")
	change()
	gitDo(t, dir, "add", "-A")
	gitDo(t, dir, "commit", "-q", "--allow-empty", "-m", branch)
	sha := strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD"))
	gitDo(t, dir, "checkout", "-q", "main")
	return sha
}

func edit(t *testing.T, dir, name, text string) func() {
	return func() { write(t, dir, name, text) }
}

func TestWhatCannotBeMergedIsNamed(t *testing.T) {
	git := func(dir string, args ...string) func(*testing.T) {
		return func(t *testing.T) { gitDo(t, dir, args...) }
	}
	cases := []struct {
		name       string
		one, other func(t *testing.T, dir string)
		want       []string // nil = it merges
	}{
		{
			"other files", func(t *testing.T, dir string) { write(t, dir, "a.txt", "A\n") },
			func(t *testing.T, dir string) { write(t, dir, "b.txt", "B\n") }, nil,
		},
		{
			"one line", func(t *testing.T, dir string) { write(t, dir, "a.txt", "1\ntwo\nthree\n") },
			func(t *testing.T, dir string) { write(t, dir, "a.txt", "eins\ntwo\nthree\n") },
			[]string{"a.txt"},
		},
		{
			"changed and removed", func(t *testing.T, dir string) { write(t, dir, "a.txt", "1\ntwo\nthree\n") },
			func(t *testing.T, dir string) { git(dir, "rm", "-q", "a.txt")(t) },
			[]string{"a.txt"},
		},
		{
			"both added, an odd name", func(t *testing.T, dir string) { write(t, dir, oddName+"/ä b", "1\n") },
			func(t *testing.T, dir string) { write(t, dir, oddName+"/ä b", "2\n") },
			[]string{oddName + "/ä b"},
		},
		{
			"renamed to two names", func(t *testing.T, dir string) { git(dir, "mv", "a.txt", "x.txt")(t) },
			func(t *testing.T, dir string) { git(dir, "mv", "a.txt", "y.txt")(t) },
			[]string{"a.txt", "x.txt", "y.txt"},
		},
		{
			"a file and a folder", func(t *testing.T, dir string) { write(t, dir, "new", "file\n") },
			func(t *testing.T, dir string) { write(t, dir, "new/in", "folder\n") },
			[]string{"new"},
		},
		{
			"binary", func(t *testing.T, dir string) { write(t, dir, "bin.dat", "\x00\x01\x03") },
			func(t *testing.T, dir string) { write(t, dir, "bin.dat", "\x00\x01\x04") },
			[]string{"bin.dat"},
		},
		{
			"a file and a link", func(t *testing.T, dir string) { write(t, dir, "new", "file\n") },
			func(t *testing.T, dir string) {
				if err := os.Symlink("a.txt", filepath.Join(dir, "new")); err != nil {
					t.Fatal(err)
				}
			},
			[]string{"new"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, dir := newRepo(t)
			one := side(t, dir, "one", func() { c.one(t, dir) })
			other := side(t, dir, "other", func() { c.other(t, dir) })
			before := gitDo(t, dir, "for-each-ref") + gitDo(t, dir, "status", "--porcelain")
			m, err := r.Merge(context.Background(), one, other)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(m.Conflicts, c.want) {
				t.Errorf("conflicts %q, want %q", m.Conflicts, c.want)
			}
			if after := gitDo(t, dir, "for-each-ref") + gitDo(t, dir, "status", "--porcelain"); after != before {
				t.Errorf("before\n%safter\n%s", before, after)
			}
		})
	}
}

func TestAModeOfBothSidesAndASubmoduleAreConflicts(t *testing.T) {
	r, dir := newRepo(t)
	base := strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD"))
	link := func(commit string) func() {
		return func() { gitDo(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+commit+",sub") }
	}
	at := func(branch, commit string) string {
		gitDo(t, dir, "checkout", "-q", "-b", branch, "main")
		link(commit)()
		gitDo(t, dir, "commit", "-q", "-m", branch)
		sha := strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD"))
		gitDo(t, dir, "checkout", "-q", "-f", "main")
		return sha
	}
	one, other := at("one", base), at("other", strings.Repeat("1", len(base)))
	m, err := r.Merge(context.Background(), one, other)
	if err != nil || !slices.Equal(m.Conflicts, []string{"sub"}) {
		t.Errorf("%q, %v: two commits of one submodule are a conflict", m.Conflicts, err)
	}
}

// A merge driver is a program of the repository's choice: it never runs, and what only it
// could merge is a conflict.
func TestAMergeDriverNeverRuns(t *testing.T) {
	r, dir := newRepo(t)
	ran := filepath.Join(t.TempDir(), "ran")
	gitDo(t, dir, "config", "merge.odd name.driver", "touch '"+ran+"'; exit 0")
	write(t, dir, ".gitattributes", "*.txt merge=odd\\ name\na.txt merge=own\n")
	gitDo(t, dir, "config", "merge.own.driver", "touch '"+ran+"'")
	gitDo(t, dir, "add", "-A")
	gitDo(t, dir, "commit", "-q", "-m", "attributes")
	one := side(t, dir, "one", edit(t, dir, "a.txt", "1\ntwo\nthree\n"))
	other := side(t, dir, "other", edit(t, dir, "a.txt", "one\ntwo\n3\n"))
	m, err := r.Merge(context.Background(), one, other)
	if err != nil || !slices.Equal(m.Conflicts, []string{"a.txt"}) {
		t.Errorf("%q, %v: the file with a driver is a conflict", m.Conflicts, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the driver ran")
	}
}

// The changes of one commit come onto a target that does not have those it was made after.
func TestOnlyAJobsOwnChangesAreMergedFromItsBase(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	base := side(t, dir, "base", edit(t, dir, "below.txt", "below\n"))
	gitDo(t, dir, "checkout", "-q", "base")
	write(t, dir, "own.txt", "own\n")
	gitDo(t, dir, "add", "-A")
	gitDo(t, dir, "commit", "-q", "-m", "own")
	own := strings.TrimSpace(gitDo(t, dir, "rev-parse", "HEAD"))
	main := strings.TrimSpace(gitDo(t, dir, "rev-parse", "main"))
	m, err := r.MergeFrom(ctx, base, main, own)
	if err != nil || m.Conflicts != nil {
		t.Fatal(m, err)
	}
	if got := gitDo(t, dir, "diff", "--name-status", main, m.Tree); got != "A\town.txt\n" {
		t.Errorf("it changes %q", got)
	}
}

// Signing and every hook are off, and the commit says who is to be named.
func TestACommitIsUnsignedAndNamesBoth(t *testing.T) {
	r, dir := newRepo(t)
	ctx := context.Background()
	gitDo(t, dir, "config", "commit.gpgSign", "true")
	gitDo(t, dir, "config", "gpg.program", "/bin/sleep 1000")
	gitDo(t, dir, "config", "user.name", "A Person")
	gitDo(t, dir, "config", "user.email", "a@person")
	t.Setenv("GIT_COMMITTER_NAME", "")
	p, err := r.Person(ctx)
	if err != nil || p != (Person{"A Person", "a@person"}) {
		t.Fatal(p, err)
	}
	head, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	sha, err := r.Commit(ctx, Commit{Tree: head + "^{tree}", Parents: []string{head}, Message: "x\n\nKey: value", Author: "orchestrate (codex)", Committer: p, At: time.Unix(1700000000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	got := gitDo(t, dir, "show", "-s", "--format=%an|%cn|%ce|%ct|%G?|%s|%(trailers:key=Key,valueonly)", sha)
	if want := "orchestrate (codex)|A Person|a@person|1700000000|N|x|value"; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
