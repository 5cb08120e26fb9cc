package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// stagedOnly is the tree was with the files as the worktree's index has them and nothing
// else does: not that tree, nor the folder, which is as tree now, nor where it started
// from. It is "" when there are none.
func (t *Tree) stagedOnly(ctx context.Context, req SalvageRequest, was, now string) (tree string, err error) {
	if req.Dir == "" || req.GitDir == "" {
		return "", nil
	}
	if _, err := os.Lstat(filepath.Join(t.git.gitDir, "index")); err != nil {
		if absent(err) {
			err = nil
		}
		return "", err
	}
	alone, err := t.stagedBeyond(ctx, was)
	for _, than := range []string{now, req.Base} {
		if err != nil || len(alone) == 0 {
			return "", err
		}
		var also map[string]bool
		also, err = t.stagedBeyond(ctx, than)
		for entry := range alone {
			if !also[entry] {
				delete(alone, entry)
			}
		}
	}
	if err != nil || len(alone) == 0 {
		return "", err
	}
	return t.with(ctx, was, alone)
}

// stagedBeyond are the files that the worktree's index has and a tree has not, as entries
// of an index. Of one whose conflict is not settled the commits have all sides.
func (t *Tree) stagedBeyond(ctx context.Context, tree string) (map[string]bool, error) {
	out, err := t.git.run(ctx, "diff-index", "--cached", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=all", "-z", tree)
	entries := fields(out)
	found := map[string]bool{}
	for i := 0; i+1 < len(entries); i += 2 { // ":100644 100644 <sha> <sha> M", then the path
		words := strings.Fields(entries[i])
		if len(words) == 5 && words[1] != SubmoduleMode && strings.Trim(words[1], "0") != "" && strings.Trim(words[3], "0") != "" {
			found[words[1]+" "+words[3]+"\t"+entries[i+1]+"\x00"] = true
		}
	}
	return found, err
}

// with is a tree with these entries in it.
func (t *Tree) with(ctx context.Context, tree string, entries map[string]bool) (_ string, err error) {
	ix, err := newIndex(t.git, "")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, ix.remove()) }()
	if _, err := ix.run(ctx, nil, "read-tree", tree); err != nil {
		return "", err
	}
	var list strings.Builder
	for entry := range entries {
		list.WriteString(entry)
	}
	if _, err := ix.run(ctx, strings.NewReader(list.String()), "update-index", "--add", "--replace", "-z", "--index-info"); err != nil {
		return "", err
	}
	out, err := ix.run(ctx, nil, "write-tree")
	return strings.TrimSpace(string(out)), err
}
