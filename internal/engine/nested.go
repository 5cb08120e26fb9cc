package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A worktree in the run directory lies below the checkout. A program that looks for a
// file in its own folder and then in those above finds the checkout's where its tree has
// none.

// climbed are files and folders that build tools look for in the folders above.
var climbed = [...]string{
	"node_modules", ".venv", "vendor", "go.work", ".cargo", "rust-toolchain.toml", ".tool-versions", "mise.toml",
	".npmrc", ".yarnrc.yml", ".eslintrc", ".eslintrc.json", ".eslintrc.js", ".prettierrc", ".editorconfig", "tsconfig.json",
	"conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "Directory.Build.props", "gradle.properties", "settings.gradle",
}

// told are files with instructions that agents collect from the folders above, as well as
// those of their own.
var told = [...]string{"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md", "QWEN.md"}

// overTrees lists what programs in the worktrees find in the checkout above them: what
// only the checkout has, and the instructions that agents collect on their way up.
// Nothing, where the trees are not below it.
func (p *Plan) overTrees(ctx context.Context, e *Engine) ([]string, error) {
	if p.Repo == nil || e.Operator.WorktreeRoot != "" {
		return nil, nil
	}
	own, err := p.Repo.NamesAt(ctx, p.Base)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, dir := range p.aboveTrees() {
		for _, name := range climbed {
			if !slices.Contains(own, name) && exists(filepath.Join(dir, name)) {
				found = append(found, relTo(p.Repo.Top(), filepath.Join(dir, name)))
			}
		}
		for _, name := range told {
			if exists(filepath.Join(dir, name)) {
				found = append(found, relTo(p.Repo.Top(), filepath.Join(dir, name)))
			}
		}
	}
	return found, nil
}

// aboveTrees are the folders between the top of the checkout and its worktrees.
func (p *Plan) aboveTrees() []string {
	dirs := []string{p.Repo.Top()}
	at := p.Repo.Top()
	for _, part := range strings.Split(relTo(p.Repo.Top(), p.runsDir()), "/") {
		at = filepath.Join(at, part)
		dirs = append(dirs, at)
	}
	return dirs
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// noteNested says what the jobs in worktrees inherit from the checkout above them.
func (p *Plan) noteNested() {
	treed := slices.ContainsFunc(p.Jobs, func(j Planned) bool { return p.isolated(j.Job.ID) })
	if len(p.inherited) == 0 || !treed {
		return
	}
	p.Notes = append(p.Notes, fmt.Sprintf("worktrees lie below the checkout, so that a program that looks in the folders above its own finds there: %s; the route of each agent says whether it reads a project's instructions; worktree_root in the operator's configuration places the trees elsewhere", some(p.inherited)))
}
