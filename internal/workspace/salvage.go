package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/failpoint"
)

// SalvageRequest says what is saved of a worktree before it goes.
type SalvageRequest struct {
	Dir    string // its folder, "" = it is gone
	GitDir string // what git keeps of it, "" = it is no worktree for git any more
	Commit string // that its branch is at, or that it started from
	Parent string // of the commit with what is in the folder beyond that
	Base   string // what the patch is told from
	Keep   bool   // Commit itself is saved too: no ref that stays has it
	Unused bool   // nobody worked there: what is missing was never there
	Ref    string // for the commit; one that is there is never moved, -2 goes behind it
	Patch  string // file for the patch, numbered like the ref; "" = none
	About  CaptureRequest
	// Discarded says that a person gave it up: the commits of repositories in it are saved
	// too. Else a worktree with such ones is not to go.
	Discarded bool
}

// Salvaged is what was saved. Without a commit nothing had to be.
type Salvaged struct {
	Ref    string
	Commit string
	Patch  string // "" = none was made: it was not wanted, or it is over DefaultMaxPatch
	Files  []Change
	Beside []string // refs of what was only staged, and of the repositories in it
}

// Salvage makes a commit of everything in a worktree that no commit holds and that git
// does not ignore, what is in submodules too, gives it a ref of its own and leaves it as
// a patch. All of it is durable when it returns. Called again it finds what it saved.
func (r *Repo) Salvage(ctx context.Context, req SalvageRequest) (s Salvaged, err error) {
	t := r.doomed(req)
	tree, err := t.revTree(ctx, req.Commit)
	if err != nil {
		return s, err
	}
	now, work, err := t.work(ctx, req, tree)
	if err == nil {
		s.Beside, err = t.saveBeside(ctx, req, tree, now)
	}
	switch {
	case err != nil:
		return s, fmt.Errorf("saving what is in %s: %w", req.Dir, err)
	case !work && !req.Keep:
		return s, nil
	case work:
		tree = now
		s.Commit, err = t.commit(ctx, now, req.About)
	default:
		s.Commit = req.Commit
	}
	if err != nil {
		return s, err
	}
	if s.Files, err = t.git.compare(ctx, req.Base, tree); err != nil {
		return s, err
	}
	ref, commit, suffix, err := t.refer(ctx, req.Ref, s.Commit)
	if err != nil {
		return s, err
	}
	s.Ref, s.Commit = ref, commit
	if req.Patch != "" {
		s.Patch, err = t.patchBeside(ctx, tree, strings.TrimSuffix(req.Patch, ".patch")+suffix+".patch", req.About.Review)
	}
	failpoint.Hit(failpoint.CleanSaved)
	return s, err
}

// work records what is in the folder, and says whether any of it is in no commit: was is
// the tree of the one that it was left at.
func (t *Tree) work(ctx context.Context, req SalvageRequest, was string) (now string, there bool, err error) {
	if req.Dir == "" {
		return was, false, nil
	}
	if now, err = t.everything(ctx, req); err != nil {
		return "", false, err
	}
	there, err = t.holdsWork(ctx, req, was, now)
	return now, there, err
}

// saveBeside saves what a commit of the files does not hold.
func (t *Tree) saveBeside(ctx context.Context, req SalvageRequest, was, now string) ([]string, error) {
	refs, err := t.saveNested(ctx, req)
	if err != nil {
		return nil, err
	}
	staged, err := t.stagedOnly(ctx, req, was, now)
	if err != nil || staged == "" {
		return refs, err
	}
	about := req.About
	about.Message += ": what was staged"
	commit, err := t.commit(ctx, staged, about)
	if err != nil {
		return nil, err
	}
	ref, _, _, err := t.refer(ctx, req.Ref+"-staged", commit)
	return append(refs, ref), err
}

// doomed is the worktree of a request; one that git does not know any more is looked at
// by way of the repository itself.
func (r *Repo) doomed(req SalvageRequest) *Tree {
	at := TreePlace{Dir: req.Dir, GitDir: req.GitDir, Base: req.Base}
	if req.GitDir == "" {
		at.GitDir = r.common
	}
	t := r.treeAt(at)
	t.parent = req.Parent
	return t.durable(r)
}

// durable has git write through to the disk. Without a folder the checkout stands in as
// the work tree, of which nothing is read then.
func (t *Tree) durable(r *Repo) *Tree {
	t.git.config = append(append([]string{}, t.git.config...), "core.fsync=all", "core.fsyncMethod=fsync")
	if t.Dir == "" {
		t.git.gitDir, t.git.workTree = r.git.gitDir, r.git.workTree
	}
	return t
}

func (t *Tree) revTree(ctx context.Context, commit string) (string, error) {
	out, err := t.git.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{tree}")
	if err != nil {
		return "", fmt.Errorf("commit %.12s is not in the repository: %w", commit, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// everything records the folder's present state as a tree object.
func (t *Tree) everything(ctx context.Context, req SalvageRequest) (tree string, err error) {
	g, err := t.git.inert(ctx)
	if err != nil {
		return "", err
	}
	seed := t.seed
	if req.GitDir == "" {
		seed = ""
	}
	ix, err := newIndex(g, seed)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, ix.remove()) }()
	if !ix.there() {
		if _, err := ix.run(ctx, nil, "read-tree", req.Commit); err != nil {
			return "", err
		}
	}
	if tree, err = ix.add(ctx); err != nil {
		return "", err
	}
	return t.withSubmodules(ctx, ix, tree)
}

// withSubmodules takes the files of submodules in in which something is not as it was
// given: as plain files, since no commit has them.
func (t *Tree) withSubmodules(ctx context.Context, ix *index, tree string) (string, error) {
	changed, err := t.unseen(ctx, ix)
	if err != nil || len(changed) == 0 {
		return tree, err
	}
	odd, err := ix.entries(ctx)
	if err != nil {
		return "", err
	}
	for _, link := range linksOf(odd) {
		if !slices.ContainsFunc(changed, func(name string) bool { return name == link || strings.HasPrefix(name, link+"/") }) {
			continue
		}
		if _, err := ix.run(ctx, nil, "update-index", "--force-remove", "--", link); err != nil {
			return "", err
		}
		if err := ix.addNested(ctx, link); err != nil {
			return "", err
		}
	}
	out, err := ix.run(ctx, nil, "write-tree")
	return strings.TrimSpace(string(out)), err
}

// holdsWork reports whether a folder that is as tree now holds anything that a commit
// of the tree was does not.
func (t *Tree) holdsWork(ctx context.Context, req SalvageRequest, was, now string) (bool, error) {
	if was == now {
		return false, nil
	}
	if !req.Unused {
		return true, nil
	}
	files, err := t.git.compare(ctx, was, now)
	for _, f := range files {
		if f.Status != "D" {
			return true, err
		}
	}
	return false, err
}

// refer gives the commit a ref, one that already has such a commit or a new one.
func (t *Tree) refer(ctx context.Context, want, commit string) (ref, has, suffix string, err error) {
	for n := 1; ; n++ {
		if n > 1 {
			suffix = fmt.Sprintf("-%d", n)
		}
		ref = want + suffix
		out, err := t.git.run(ctx, "rev-parse", "--verify", "--quiet", ref)
		if code(err) == 1 {
			_, err = t.git.run(ctx, "update-ref", "-m", "orchestrate: salvage", ref, commit, "")
			return ref, commit, suffix, err
		}
		if err != nil {
			return "", "", "", err
		}
		has = strings.TrimSpace(string(out))
		if same, err := t.alike(ctx, has, commit); err != nil || same {
			return ref, has, suffix, err
		}
	}
}

// alike reports whether two commits hold the same files on the same parents.
func (t *Tree) alike(ctx context.Context, a, b string) (bool, error) {
	if a == b {
		return true, nil
	}
	out, err := t.git.run(ctx, "rev-list", "--no-walk=unsorted", "--no-commit-header", "--format=%T %P", a, b)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return err == nil && len(lines) == 2 && lines[0] == lines[1], err
}

// patchBeside leaves what a tree has that the base has not as a patch, as far as the
// review lets it through. One that is too large is left out: the commit holds it all.
func (t *Tree) patchBeside(ctx context.Context, tree, path string, review func([]byte) ([]byte, error)) (string, error) {
	patch := &bounded{left: DefaultMaxPatch}
	_, err := t.git.do(ctx, call{out: patch, args: []string{
		"diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--no-color", "--unified=3", "--src-prefix=a/", "--dst-prefix=b/", t.Base, tree,
	}})
	if patch.over {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	keep := patch.buf.Bytes()
	if review != nil {
		if keep, err = review(keep); err != nil {
			return "", err
		}
	}
	return path, replaceFile(path, keep)
}
