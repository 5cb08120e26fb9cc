package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Missing counts the files of a commit that a worktree would need and that a partial
// clone has not brought to this machine, with some of their paths. Nothing is fetched.
// What the sparse checkout leaves out is not needed.
func (r *Repo) Missing(ctx context.Context, commit string) (n int, examples []string, err error) {
	some, err := promised(filepath.Join(r.common, "objects"))
	if err != nil || !some {
		return 0, nil, err
	}
	gone, err := r.git.missingIDs(ctx, commit, nil)
	if err != nil || len(gone) == 0 {
		return 0, nil, err
	}
	out, err := r.git.run(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if code(err) > 0 { // folders are missing too
		return len(gone), nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	left, err := r.leftOut(ctx)
	if err != nil {
		return 0, nil, err
	}
	for _, line := range fields(out) { // "100644 blob <id>\t<path>"
		meta, name, _ := strings.Cut(line, "\t")
		words := strings.Fields(meta)
		if len(words) != 3 || !gone[words[2]] || left[name] {
			continue
		}
		if n++; n <= 3 {
			examples = append(examples, name)
		}
	}
	return n, examples, nil
}

// promised reports whether a store of objects is one of a partial clone.
func promised(store string) (bool, error) {
	packs, err := os.ReadDir(filepath.Join(store, "pack"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(packs, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), ".promisor") }), err
}

// leftOut are the files that the sparse checkout of the person leaves out.
func (r *Repo) leftOut(ctx context.Context) (map[string]bool, error) {
	out, err := r.git.run(ctx, "ls-files", "-t", "-z")
	if err != nil {
		return nil, err
	}
	left := map[string]bool{}
	for _, line := range fields(out) {
		if name, ok := strings.CutPrefix(line, "S "); ok {
			left[name] = true
		}
	}
	return left, nil
}

func (g git) missing(ctx context.Context, commit string, env []string) (int, error) {
	gone, err := g.missingIDs(ctx, commit, env)
	return len(gone), err
}

// missingIDs are the objects of one commit that are not there.
func (g git) missingIDs(ctx context.Context, commit string, env []string) (map[string]bool, error) {
	out, err := g.do(ctx, call{args: []string{"rev-list", "--objects", "--no-walk", "--missing=print", commit}, env: env})
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for _, line := range strings.Split(string(out), "\n") {
		if id, ok := strings.CutPrefix(line, "?"); ok {
			gone[id] = true
		}
	}
	return gone, nil
}
