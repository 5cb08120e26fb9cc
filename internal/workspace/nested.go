package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// repository is one that lies in a worktree and is none of its submodules.
type repository struct {
	at  string // its folder, below the worktree, with slashes
	git git
}

// Nested says which repository in a worktree has commits of its own, "" = none has. One
// that git ignores goes like all that it ignores.
func (l *Looks) Nested(ctx context.Context, reg Registration) (why string, err error) {
	t := l.repo.treeAt(TreePlace{Dir: reg.Dir, GitDir: reg.GitDir})
	if t.git, err = l.inert(ctx, t); err != nil {
		return "", err
	}
	all, err := t.repositories(ctx)
	for _, nested := range all {
		if own, err := nested.ownCommits(ctx); err != nil || own {
			return nested.why(err), nil
		}
	}
	return "", err
}

// why says what keeps a worktree with this repository.
func (n repository) why(err error) string {
	if err != nil {
		return fmt.Sprintf("git cannot tell what the repository in it at %s holds: %v", n.at, err)
	}
	return fmt.Sprintf("the repository in it at %s has commits of its own", n.at)
}

// repositories finds those in a worktree. git is asked for the folders that count, each of
// which is then looked into: of a folder with files of its own it does not say what else
// that is.
func (t *Tree) repositories(ctx context.Context) (all []repository, err error) {
	folders, err := t.folders(ctx, t.git, "")
	for _, at := range folders {
		dir := filepath.Join(t.Dir, filepath.FromSlash(at))
		gitDir, err := gitDirOf(dir)
		if err != nil {
			return nil, err
		}
		if gitDir == "" || !t.holds(gitDir) {
			continue
		}
		all = append(all, repository{at: at, git: git{gitDir: gitDir, workTree: dir, scratch: t.git.scratch}})
	}
	return all, err
}

// holds reports whether a path goes with the worktree: it is in its folder, or in what git
// keeps of it.
func (t *Tree) holds(path string) bool {
	in := func(root string) bool {
		rel, err := filepath.Rel(root, path)
		return err == nil && rel != "." && filepath.IsLocal(rel)
	}
	return in(t.Dir) || t.git.gitDir != t.common && in(t.git.gitDir)
}

// folders are all below dir that git tracks or would add files in, those in repositories
// there too, of which the index says nothing.
func (t *Tree) folders(ctx context.Context, g git, dir string) (all []string, err error) {
	list := call{args: []string{"ls-files", "--cached", "--others", "--exclude-standard", "-z"}}
	if dir != "" {
		list.env = []string{"GIT_INDEX_FILE=" + filepath.Join(t.git.gitDir, "none", "index")}
	}
	out, err := g.do(ctx, list)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{".": true}
	for _, name := range fields(out) {
		nested, is := strings.CutSuffix(name, "/")
		at := nested
		if !is {
			at = path.Dir(name)
		}
		for ; !seen[at]; at = path.Dir(at) {
			seen[at] = true
			all = append(all, path.Join(dir, at))
		}
		if !is {
			continue
		}
		inside := g
		inside.workTree = filepath.Join(g.workTree, filepath.FromSlash(nested))
		more, err := t.folders(ctx, inside, path.Join(dir, nested))
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// ownCommits reports whether a repository has any that it did not get from a remote.
func (n repository) ownCommits(ctx context.Context) (bool, error) {
	out, err := n.git.run(ctx, "rev-list", "--max-count=1", "--all", "--not", "--remotes")
	return len(out) > 0, err
}

// saveNested brings the commits of the repositories in a worktree that goes into this one,
// each of their own refs under one of ours; without leave it refuses that they go.
func (t *Tree) saveNested(ctx context.Context, req SalvageRequest) (refs []string, err error) {
	if req.Dir == "" {
		return nil, nil
	}
	all, err := t.repositories(ctx)
	for _, nested := range all {
		own, errOwn := nested.ownCommits(ctx)
		if errOwn == nil && !own {
			continue
		}
		if errOwn != nil || !req.Discarded {
			return nil, errors.New(nested.why(errOwn))
		}
		made, err := t.adopt(ctx, nested, req.Ref+"-nested/"+refPart(nested.at))
		if err != nil {
			return nil, fmt.Errorf("the commits of the repository in it at %s cannot be saved: %w", nested.at, err)
		}
		refs = append(refs, made...)
	}
	return refs, err
}

// adopt copies what the refs of another repository lead to, and gives each a ref below
// prefix. No ref is made before git has found all that it leads to.
func (t *Tree) adopt(ctx context.Context, from repository, prefix string) (refs []string, err error) {
	tips, err := from.tips(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, tip := range tips {
		ids = append(ids, tip.Commit)
	}
	list := strings.Join(ids, "\n") + "\n"
	r, w := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		_, err := from.git.do(ctx, call{args: []string{"pack-objects", "--revs", "--stdout", "-q"}, stdin: strings.NewReader(list), out: w})
		packed <- errors.Join(err, w.CloseWithError(err))
	}()
	_, err = t.git.do(ctx, call{args: []string{"index-pack", "--stdin"}, stdin: r})
	err = errors.Join(err, r.CloseWithError(io.ErrClosedPipe), <-packed)
	if err != nil {
		return nil, err
	}
	whole := call{args: []string{"rev-list", "--objects", "--quiet", "--stdin", "--not", "--all"}, stdin: strings.NewReader(list)}
	if _, err := t.git.do(ctx, whole); err != nil {
		return nil, err
	}
	for _, tip := range tips {
		ref, err := t.referTo(ctx, prefix+"/"+refPart(tip.Name), tip.Commit)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// tips are what the refs of a repository are at that are its own, and where its HEAD is
// when that is on none of them.
func (n repository) tips(ctx context.Context) (all []Ref, err error) {
	out, err := n.git.run(ctx, "for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(name, "refs/remotes/") {
			known[id] = true
			all = append(all, Ref{Name: strings.TrimPrefix(name, "refs/"), Commit: id})
		}
	}
	stashed, err := n.stashed(ctx, known)
	if err != nil {
		return nil, err
	}
	all = append(all, stashed...)
	head, err := n.git.run(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
	if id := strings.TrimSpace(string(head)); err == nil && !known[id] {
		all = append(all, Ref{Name: "HEAD", Commit: id})
	}
	if code(err) == 1 { // it has no commit
		err = nil
	}
	return all, err
}

// stashed are the stashes behind the newest one, which is a ref of its own.
func (n repository) stashed(ctx context.Context, known map[string]bool) (all []Ref, err error) {
	out, err := n.git.run(ctx, "for-each-ref", "refs/stash")
	if err != nil || len(out) == 0 {
		return nil, err
	}
	out, err = n.git.run(ctx, "rev-list", "--walk-reflogs", "refs/stash")
	for id := range strings.FieldsSeq(string(out)) {
		if !known[id] {
			known[id] = true
			all = append(all, Ref{Name: fmt.Sprintf("stash-%d", len(all)+1), Commit: id})
		}
	}
	return all, err
}

// referTo gives an object a ref, that which has it already or one that is free.
func (t *Tree) referTo(ctx context.Context, want, id string) (string, error) {
	for n := 1; ; n++ {
		ref := want
		if n > 1 {
			ref = fmt.Sprintf("%s-%d", want, n)
		}
		out, err := t.git.run(ctx, "rev-parse", "--verify", "--quiet", ref)
		switch {
		case code(err) == 1:
			_, err = t.git.run(ctx, "update-ref", "-m", "orchestrate: salvage", ref, id, "")
			return ref, err
		case err != nil || strings.TrimSpace(string(out)) == id:
			return ref, err
		}
	}
}

// refPart is a path as a part of a ref's name.
func refPart(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		part = strings.Map(func(c rune) rune {
			if c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
				return c
			}
			return '-'
		}, part)
		parts[i] = part
	}
	return path.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" })...)
}
