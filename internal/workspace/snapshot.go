package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// index is a temporary index: the user's and the worktree's own are not touched
// while a state is being recorded.
type index struct {
	git  git
	path string
}

// newIndex makes a temporary index from seed, whose remembered file times save
// reading what did not change; without a seed it is empty. Call remove at the end.
func newIndex(g git, seed string) (*index, error) {
	dir, err := os.MkdirTemp(g.scratch, ".index.*.tmp")
	if err != nil {
		return nil, err
	}
	ix := &index{git: g, path: filepath.Join(dir, "index")}
	if seed == "" {
		return ix, nil
	}
	err = copyIndex(seed, ix.path)
	if errors.Is(err, fs.ErrNotExist) { // a checkout without an index: everything is untracked
		return ix, nil
	}
	if err != nil {
		return nil, errors.Join(err, ix.remove())
	}
	return ix, nil
}

// copyIndex copies an index with its modification time: git compares it with
// those of the files to know which of them may have changed unnoticed.
func copyIndex(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// there reports whether the index has been filled, or made from one.
func (ix *index) there() bool {
	_, err := os.Lstat(ix.path)
	return err == nil
}

func (ix *index) remove() error { return os.RemoveAll(filepath.Dir(ix.path)) }

func (ix *index) run(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	return ix.git.do(ctx, call{args: args, stdin: stdin, env: []string{"GIT_INDEX_FILE=" + ix.path}})
}

// add takes everything in the work tree that is not ignored into the index and
// returns the tree.
func (ix *index) add(ctx context.Context) (string, error) {
	odd, err := ix.entries(ctx)
	if err != nil {
		return "", err
	}
	if err := ix.trust(ctx, odd); err != nil {
		return "", err
	}
	nested, err := ix.nested(ctx)
	if err != nil {
		return "", err
	}
	links := linksOf(odd)
	args := []string{"add", "-A", "--sparse", "--", "."} // what the sparse checkout leaves out may have been made all the same
	for _, dir := range append(links, nested...) {
		args = append(args, ":(top,exclude,literal)"+dir)
	}
	if _, err := ix.run(ctx, nil, args...); err != nil {
		return "", err
	}
	if err := ix.addLinks(ctx, links); err != nil {
		return "", err
	}
	for _, dir := range nested {
		if err := ix.addNested(ctx, dir); err != nil {
			return "", fmt.Errorf("the repository made in %s: %w", dir, err)
		}
	}
	out, err := ix.run(ctx, nil, "write-tree")
	return strings.TrimSpace(string(out)), err
}

// trust clears the marks by which an index says that a file need not be looked
// at (git update-index --assume-unchanged).
func (ix *index) trust(ctx context.Context, odd []entry) error {
	var list strings.Builder
	for _, e := range odd {
		if e.assumed {
			list.WriteString(e.path + "\x00")
		}
	}
	if list.Len() == 0 {
		return nil
	}
	_, err := ix.run(ctx, strings.NewReader(list.String()), "update-index", "--no-assume-unchanged", "-z", "--stdin")
	return err
}

// linksOf are the submodules of an index.
func linksOf(odd []entry) (links []string) {
	for _, e := range odd {
		if e.link {
			links = append(links, e.path)
		}
	}
	return links
}

// addLinks takes submodules into the index by the commit that they are at. `git add`
// would start a git of its own in each, which obeys the configuration that it finds
// there, and that may be planted.
func (ix *index) addLinks(ctx context.Context, links []string) error {
	if len(links) == 0 {
		return nil
	}
	list := strings.NewReader(strings.Join(links, "\x00") + "\x00")
	_, err := ix.run(ctx, list, "update-index", "--add", "--remove", "-z", "--stdin")
	return err
}

// entry is a file of an index that needs care.
type entry struct {
	path    string
	assumed bool // marked as not to be looked at
	link    bool // a submodule
}

// entries lists what of an index is not a plain file.
func (ix *index) entries(ctx context.Context) ([]entry, error) {
	out, err := ix.run(ctx, nil, "ls-files", "--stage", "-v", "-z")
	if err != nil {
		return nil, err
	}
	var odd []entry
	for _, line := range fields(out) { // "H 100644 <sha> 0\t<path>", the letter small if assumed
		meta, name, ok := strings.Cut(line, "\t")
		if !ok || len(meta) < 2 {
			return nil, fmt.Errorf("git ls-files: %q is not an entry", line)
		}
		e := entry{path: name, assumed: meta[0] >= 'a' && meta[0] <= 'z', link: strings.HasPrefix(meta[2:], "160000 ")}
		if e.assumed || e.link {
			odd = append(odd, e)
		}
	}
	return odd, nil
}

// nested lists untracked folders that are repositories of their own, without the
// closing slash. Git would record them as a bare link and lose their files.
func (ix *index) nested(ctx context.Context) ([]string, error) {
	out, err := ix.run(ctx, nil, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, name := range fields(out) {
		if dir, ok := strings.CutSuffix(name, "/"); ok {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// addNested takes the files of a nested repository, except its .git and what it
// ignores, as plain files.
func (ix *index) addNested(ctx context.Context, dir string) (err error) {
	inside := ix.git
	inside.workTree = filepath.Join(ix.git.workTree, filepath.FromSlash(dir))
	empty, err := newIndex(inside, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, empty.remove()) }()
	out, err := empty.run(ctx, nil, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	var list bytes.Buffer
	for _, name := range fields(out) {
		if deeper, ok := strings.CutSuffix(name, "/"); ok {
			if err := ix.addNested(ctx, path.Join(dir, deeper)); err != nil {
				return err
			}
			continue
		}
		list.WriteString(path.Join(dir, name) + "\x00")
	}
	_, err = ix.run(ctx, &list, "update-index", "--add", "-z", "--stdin")
	return err
}

// SnapshotTree records the checkout as it is, uncommitted and untracked changes
// included, as a tree object, and leaves index, files and branches alone. A
// writer in the shared checkout is measured against it.
func (r *Repo) SnapshotTree(ctx context.Context) (tree string, err error) {
	g, err := r.git.inert(ctx)
	if err != nil {
		return "", err
	}
	ix, err := newIndex(g, filepath.Join(r.git.gitDir, "index"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, ix.remove()) }()
	return ix.add(ctx)
}

// SharedTree is the shared checkout as the tree of a writer that started when
// SnapshotTree said baseTree.
func SharedTree(ctx context.Context, r *Repo, baseTree string) (*Tree, error) {
	head, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	return &Tree{
		Dir: r.Top(), Base: baseTree, parent: head, shared: true,
		git: r.git, seed: filepath.Join(r.git.gitDir, "index"),
	}, nil
}
