//go:build unix

package engine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/reclaim"
)

// What git is asked about refs, commits and its configuration does not grow with the
// number of trees: a listing of many would take minutes.
func TestAListingAsksGitOnceAboutAllTrees(t *testing.T) {
	jobs := []string{"a", "b", "c", "d"}
	f := newField(t, jobs...)
	for _, job := range jobs {
		f.attempt(job, 1, ledger.Success)
	}
	f.end()
	f.integrated("a")
	f.git("tag", "by-hand", f.work["b"].Commit)
	calls := f.counting()
	l := f.list()
	f.fate(l, reclaim.KindWorktree, "a", reclaim.Remove, "integrated")
	f.fate(l, reclaim.KindWorktree, "b", reclaim.Keep, "refs/tags/by-hand")
	f.fate(l, reclaim.KindWorktree, "c", reclaim.Keep, "not integrated")
	asked, err := os.ReadFile(calls)
	f.must(err)
	for command, most := range map[string]int{"for-each-ref": 2, "rev-list": 2, "cat-file": 2, "config": 2, "status": len(jobs), "ls-files": 2 * len(jobs)} {
		if n := strings.Count(string(asked), command+"\n"); n > most {
			t.Errorf("git %s was called %d times", command, n)
		}
	}
}

// counting has every command of git noted in a file.
func (f *field) counting() (calls string) {
	f.t.Helper()
	git, err := exec.LookPath("git")
	f.must(err)
	dir := f.t.TempDir()
	calls = filepath.Join(dir, "calls")
	script := fmt.Sprintf("#!/bin/sh\nfor word; do echo \"$word\"; done >>%s\nexec %s \"$@\"\n", calls, git)
	f.must(os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755))
	f.t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return calls
}
