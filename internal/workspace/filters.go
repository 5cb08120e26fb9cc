package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Filtered are the files of a commit that git passes through a filter driver (LFS,
// git-crypt …), by their paths, with the filter's name. Filters are off here, so a
// worktree holds what git stores of them.
func (r *Repo) Filtered(ctx context.Context, commit string) (map[string]string, error) {
	return r.git.filtered(ctx, commit, nil)
}

// Filtered are the files that a patch adds or changes and that git would have passed
// through a filter driver, by the attributes before it or after it.
func (t *Tree) Filtered(ctx context.Context, p Patch) (map[string]string, error) {
	names := []string{}
	trees := []string{p.Tree}
	for _, f := range p.Files {
		if f.Status != "D" {
			names = append(names, f.Path)
		}
	}
	if p.SetsAttributes() {
		trees = append(trees, p.Base)
	}
	all := map[string]string{}
	for _, tree := range trees {
		some, err := t.git.filtered(ctx, tree, names)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, some)
	}
	return all, nil
}

// attributesFile is where a repository says what its files are.
const attributesFile = ".gitattributes"

// SetsAttributes reports whether a patch changes what a repository says of its files.
func (p Patch) SetsAttributes() bool {
	return slices.ContainsFunc(p.Files, func(c Change) bool { return path.Base(c.Path) == attributesFile })
}

// filtered asks for the filters of names, nil = of all files, by the attributes in a tree.
func (g git) filtered(ctx context.Context, tree string, names []string) (all map[string]string, err error) {
	ix, err := newIndex(g, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ix.remove()) }()
	if _, err := ix.run(ctx, nil, "read-tree", tree); err != nil {
		return nil, err
	}
	ask := strings.Join(names, "\x00") + "\x00"
	if names == nil {
		listed, err := ix.run(ctx, nil, "ls-files", "-z")
		if err != nil {
			return nil, err
		}
		ask = string(listed)
	}
	if ask == "" || ask == "\x00" {
		return nil, nil
	}
	out, err := ix.run(ctx, strings.NewReader(ask), "check-attr", "--cached", "--stdin", "-z", "filter")
	if err != nil {
		return nil, err
	}
	said := fields(out) // path, "filter", value
	if len(said)%3 != 0 {
		return nil, fmt.Errorf("git check-attr: %d words are not an answer", len(said))
	}
	all = map[string]string{}
	for i := 0; i < len(said); i += 3 {
		switch value := said[i+2]; value {
		case "unspecified", "unset", "set", "":
		default:
			all[said[i]] = value
		}
	}
	return all, nil
}
