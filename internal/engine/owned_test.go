package engine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/spec"
	"orchestrate/internal/workspace"
)

// checkout is a repository with one commit and the given files.
func checkout(t *testing.T, files ...string) *Plan {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=p", "-c", "user.email=p@example.com", "commit", "-q", "--allow-empty", "-m", "start"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = top
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	repo, err := workspace.Open(context.Background(), top)
	if err != nil {
		t.Fatal(err)
	}
	return &Plan{Root: top, Repo: repo}
}

func TestOwnedFolders(t *testing.T) {
	p := checkout(t, "src/a.go", "src/deep/b.go", "docs/c.md", "vendor/lib/.git/config", "plans/reports/old/report.md")
	top := p.Root
	elsewhere := t.TempDir()
	for link, to := range map[string]string{"out": elsewhere, "src/up": "../..", "alias": "src", "src/hooks": "../.git/hooks"} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		cwd   string
		owned []string
		want  []string // from the top
		why   string   // a part of it, when it cannot be bounded
	}{
		{name: "a folder", owned: []string{"src/**"}, want: []string{"src"}},
		{name: "a folder by its name", owned: []string{"docs"}, want: []string{"docs"}},
		{name: "a file's folder, since files are replaced", owned: []string{"src/deep/b.go"}, want: []string{"src/deep"}},
		{name: "the deepest that is there", owned: []string{"src/new/deeper/**"}, want: []string{"src"}},
		{name: "up to the first pattern", owned: []string{"src/*/x.go"}, want: []string{"src"}},
		{name: "several, each once", owned: []string{"docs/*.md", "src/**", "docs/**"}, want: []string{"docs", "src"}},
		{name: "from the cwd", cwd: "src", owned: []string{"deep/**"}, want: []string{"src/deep"}},
		{name: "a link within", owned: []string{"alias/**"}, want: []string{"src"}},
		{name: "the top", owned: []string{"*.md"}, why: ".git"},
		{name: "nothing said", why: ".git"},
		{name: "what is not there yet, in the top", owned: []string{"new/**"}, why: ".git"},
		{name: "the reports", owned: []string{"plans/**"}, why: "plans/reports"},
		{name: "among the reports", owned: []string{"plans/reports/old/**"}, why: "plans/reports"},
		{name: "a repository in it", owned: []string{"vendor/**"}, why: "vendor/lib/.git"},
		{name: "git's own", owned: []string{".git/hooks/**"}, why: ".git"},
		{name: "a link out", owned: []string{"out/**"}, why: "by a symbolic link"},
		{name: "a link above the top", owned: []string{"src/up/**"}, why: "by a symbolic link"},
		{name: "a link above the cwd", cwd: "src", owned: []string{"up/docs/**"}, why: "by a symbolic link"},
		{name: "a link to hooks", owned: []string{"src/hooks/**"}, why: ".git"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := &spec.Job{Effect: "scoped-write", Cwd: filepath.Join(top, c.cwd), OwnedPaths: c.owned}
			got, err := p.ownedFolders(j)
			if c.why != "" {
				if err == nil || !strings.Contains(err.Error(), c.why) || p.unboxed(j) != err.Error() {
					t.Fatalf("%v, %v; want %q", got, err, c.why)
				}
				return
			}
			var want []string
			for _, name := range c.want {
				want = append(want, filepath.Join(top, name))
			}
			if err != nil || !slices.Equal(got, want) || p.unboxed(j) != "" {
				t.Errorf("%v, %v; want %v", got, err, want)
			}
		})
	}
}

func TestAnObserverOwnsNothingThatWouldHaveToBeBounded(t *testing.T) {
	p := checkout(t)
	if why := p.unboxed(&spec.Job{Effect: "observe", Cwd: p.Root}); why != "" {
		t.Error(why)
	}
}
