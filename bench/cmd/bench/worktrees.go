//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"orchestrate/internal/workspace"
)

// treeCount is how many worktrees a command makes.
const treeCount = 8

// forest is a size of repository, and how many rounds of it are worth their time.
type forest struct{ files, rounds int }

var forests = []forest{{10_000, 5}, {100_000, 3}}

// fileSpace is what one small file takes: a block, and its inode.
const fileSpace = 4608

// worktrees measures what making the worktrees of isolated writers costs beside bare
// git, one after another and two at a time.
func worktrees(b *bench) (tables []table, err error) {
	for _, place := range b.places {
		for _, f := range forests {
			t, err := b.worktreesOf(place, f)
			if err != nil {
				return nil, err
			}
			tables = append(tables, t)
		}
	}
	return tables, nil
}

func (b *bench) worktreesOf(place string, f forest) (table, error) {
	t := table{
		title: fmt.Sprintf("%d worktrees of %d files, on %s", treeCount, f.files, fileSystem(place)),
		head:  []string{"command", "CPU ms per tree", "wall ms per tree", "CPU x git", "wall x git"},
	}
	all := *b
	// Nothing is removed between runs; a third of the room is left to others.
	round := int64(3 * treeCount * f.files)
	all.turns = min(b.turns, f.rounds, int(room(place)*2/3/round))
	if all.turns == 0 {
		t.note = fmt.Sprintf("Left out: a round makes %d files, for which there is no room.", round)
		return t, nil
	}
	repo := filepath.Join(place, fmt.Sprintf("repo-%d", f.files))
	if err := makeRepo(repo, f.files); err != nil {
		return t, err
	}
	in := filepath.Join(place, fmt.Sprintf("trees-%d", f.files))
	if err := os.Mkdir(in, 0o700); err != nil {
		return t, err
	}
	commands, err := treeCommands(b.self, repo, f.files)
	if err != nil {
		return t, err
	}
	samples, err := all.rounds(in, commands)
	if err != nil {
		return t, err
	}
	t.note = fmt.Sprintf("Rounds: %d, interleaved; one fills about %.1f GiB. Ours is held against git's with as many at a time.", all.turns, float64(round*fileSpace)/(1<<30))
	for i := range samples {
		s, base := &samples[i], &samples[min(i, 1)]
		t.add(s.name, number("%.0f", s.cpuPerUnit()), number("%.0f", s.perUnit(wallOf)), number("%.2f", s.times(base)), number("%.2f", s.wallTimes(base)))
	}
	return t, nil
}

func wallOf(c cost) float64 { return c.Wall }

// treeCommands are the ways to make the trees: two of git's, and ours, which is two at
// a time.
func treeCommands(self, repo string, files int) ([]command, error) {
	sha, err := exec.Command("git", "-C", repo, "rev-parse", "HEAD").Output()
	if err != nil {
		return nil, fmt.Errorf("git rev-parse HEAD in %s: %w", repo, err)
	}
	script := func(how, i string) []string {
		add := fmt.Sprintf("git -C '%s' worktree add -q --no-track -b $b-%s $PWD/tree-%s %.40s", repo, i, i, sha)
		return []string{"sh", "-c", "b=$(basename $PWD); " + fmt.Sprintf(how, add)}
	}
	verify := outputs(treeCount*files, "tree-*/d*/f*")
	return []command{
		{name: "git worktree add, one after another", units: treeCount, verify: verify, argv: script("for i in 1 2 3 4 5 6 7 8; do %s || exit 1; done", "$i")},
		{name: "git worktree add, two at a time", units: treeCount, verify: verify, argv: script("seq 8 | xargs -P2 -I{} %s", "{}")},
		{name: "orchestrate, two at a time", units: treeCount, verify: verify, argv: []string{self, "trees", repo}},
	}, nil
}

// room is how many small files can be made where dir is.
func room(dir string) int64 {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil {
		return 0
	}
	return min(int64(fs.Bavail)*fs.Bsize/fileSpace, int64(fs.Ffree))
}

// makeRepo makes a repository of small text files with one commit.
func makeRepo(dir string, files int) error {
	for i := range files {
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
	git := "git init -q && git add . && git -c user.name=bench -c user.email=bench@localhost -c commit.gpgsign=false -c gc.auto=0 commit -q -m files && git repack -adq"
	cmd := exec.Command("sh", "-c", git)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make a repository: %w\n%s", err, out)
	}
	return nil
}

// treesMain makes worktrees as the engine does for writers that start at once, in the
// current folder.
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
	errs := make([]error, treeCount)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			branch := fmt.Sprintf("%s-%d", filepath.Base(here), i+1)
			_, errs[i] = repo.AddWorktree(ctx, filepath.Join(here, fmt.Sprintf("tree-%d", i+1)), branch, sha)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
