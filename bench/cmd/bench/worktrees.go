//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"orchestrate/internal/workspace"
)

const (
	treeFiles = 10000
	treeCount = 2 // worktrees a command makes
)

// worktrees measures what making the worktree of an isolated writer costs beside
// bare git.
func worktrees(b *bench) (tables []table, err error) {
	for _, place := range b.places {
		repo := filepath.Join(place, "repo")
		if err := makeRepo(repo); err != nil {
			return nil, err
		}
		script := fmt.Sprintf("sha=$(git -C %s rev-parse HEAD); for i in 1 2; do git -C %s worktree add -q --no-track -b $(basename $PWD)-$i $PWD/tree-$i $sha || exit 1; done", repo, repo)
		verify := outputs(treeCount*treeFiles, "tree-*/d*/f*")
		samples, err := b.rounds(place, []command{
			{name: "git worktree add", units: treeCount, argv: []string{"sh", "-c", script}, verify: verify},
			{name: "orchestrate's worktrees", units: treeCount, argv: []string{b.self, "trees", repo}, verify: verify},
		})
		if err != nil {
			return nil, err
		}
		t := table{
			title: fmt.Sprintf("Worktrees of %d files, on %s", treeFiles, fileSystem(place)),
			head:  []string{"command", "CPU ms per tree", "wall ms per tree", "CPU x git"},
		}
		for i := range samples {
			s := &samples[i]
			t.add(s.name, number("%.0f", s.cpuPerUnit()), number("%.0f", s.median(func(c cost) float64 { return c.Wall })*1000/treeCount), number("%.2f", s.times(&samples[0])))
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// makeRepo makes a repository of small text files with one commit.
func makeRepo(dir string) error {
	for i := range treeFiles {
		name := filepath.Join(dir, fmt.Sprintf("d%d", i/100), fmt.Sprintf("f%d", i))
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				return err
			}
		}
		text := make([]byte, 0, 1300)
		for len(text) < 1300-40 {
			text = fmt.Appendf(text, "line %d of file %d\n", len(text), i)
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return err
		}
	}
	git := "git init -q && git add . && git -c user.name=bench -c user.email=bench@localhost -c commit.gpgsign=false commit -q -m files"
	cmd := exec.Command("sh", "-c", git)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make a repository: %w\n%s", err, out)
	}
	return nil
}

// treesMain makes worktrees as the engine does, in the current folder.
func treesMain(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("trees REPOSITORY")
	}
	ctx := context.Background()
	repo, err := workspace.Open(ctx, args[0])
	if err != nil {
		return err
	}
	sha, err := repo.Resolve(ctx, "HEAD")
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	for i := range treeCount {
		branch := fmt.Sprintf("%s-%d", filepath.Base(here), i+1)
		if _, err := repo.AddWorktree(ctx, filepath.Join(here, fmt.Sprintf("tree-%d", i+1)), branch, sha); err != nil {
			return err
		}
	}
	return nil
}
