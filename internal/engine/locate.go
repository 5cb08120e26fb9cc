package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"orchestrate/internal/spec"
	"orchestrate/internal/workspace"
)

// locate finds the workspace: the git top level of the cwd, else the cwd. A
// repository without a commit has a top level too, but no worktree can start there.
func (p *Plan) locate(ctx context.Context) error {
	cwd, err := filepath.EvalSymlinks(p.Request.Cwd)
	if err != nil {
		return err
	}
	p.Root = cwd
	p.enter(ctx, cwd)
	if p.Repo != nil {
		p.Root = p.Repo.Top()
	} else if top, err := workspace.Top(ctx, cwd); err == nil {
		p.Root = top
	}
	return ctx.Err()
}

// enter opens the repository that holds dir, or says why no worktree can be made.
func (p *Plan) enter(ctx context.Context, dir string) {
	repo, err := workspace.Open(ctx, dir)
	p.Repo, p.noTree, p.noTreeNext = repo, "", ""
	if err != nil {
		p.noTree = err.Error()
	}
	if err != nil && !errors.Is(err, workspace.ErrNotRepo) && !errors.Is(err, workspace.ErrNoCommit) {
		p.noTreeNext = "make git work here first: `git status` in this folder shows what is wrong; or let the job only observe"
	}
}

// fixBase resolves the base once for the whole run. The workspace root that the
// spec names may be in another repository than the cwd, also in one inside that of
// the cwd.
func (p *Plan) fixBase(ctx context.Context) ([]spec.Diagnostic, error) {
	p.enterRoot(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	said := p.Spec.BasePos.Line > 0
	if p.Repo == nil {
		if said {
			return p.badBase(p.noTree, "leave base out, or choose a folder of a git repository with a commit"), nil
		}
		return nil, nil
	}
	var err error
	rev := cmp.Or(p.fixed, p.Spec.Base)
	if p.Base, err = p.Repo.Resolve(ctx, rev); err != nil {
		return p.badBase(err.Error(), "a branch, tag or commit of "+p.Repo.Top()), nil
	}
	p.Dirty, err = p.Repo.Dirty(ctx)
	return nil, err
}

// enterRoot opens the repository of the workspace root that the spec names.
func (p *Plan) enterRoot(ctx context.Context) {
	if p.Repo == nil || p.Repo.Top() != p.Root {
		p.enter(ctx, p.Root)
	}
}

func (p *Plan) badBase(problem, allowed string) []spec.Diagnostic {
	pos := p.Spec.BasePos
	if pos.Line == 0 {
		pos = spec.Position{File: p.Spec.Path, Line: 1, Col: 1}
	}
	return []spec.Diagnostic{{
		Pos: pos, Field: "base", Rule: "base",
		Message: fmt.Sprintf("found %q: %s; allowed: %s", p.Spec.Base, problem, allowed),
	}}
}

func inside(top, dir string) bool {
	rel, err := filepath.Rel(top, dir)
	return err == nil && filepath.IsLocal(rel)
}
