package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"orchestrate/internal/failpoint"
)

// DefaultMaxPatch bounds a patch in bytes where the caller gives no bound.
const DefaultMaxPatch = 256 << 20

// Change is one path that differs from the base.
type Change struct {
	Path    string // slashes, relative to the top of the tree
	Status  string // A added, M modified, D deleted, T type changed
	OldMode string // git's file mode, 000000 when added
	Mode    string // 000000 when deleted
	// Added and Deleted count lines. Of what git takes for binary they are 0.
	Added, Deleted int
	Binary         bool
}

// CaptureRequest says what to do with what a writer changed.
type CaptureRequest struct {
	PatchPath string   // file for the patch; "" = none
	Message   string   // first line of the snapshot commit
	Author    string   // of the snapshot commit; "" = orchestrate, who commits it in any case
	Trailers  []string // "Key: value" lines at its end
	MaxBytes  int64    // bound of the patch; 0 = DefaultMaxPatch
	// At is the date of the snapshot commit. With the same date, a capture of the
	// same files makes the same commit again; zero = now.
	At time.Time
	// Review sees the patch before it is on disk and returns what may be written
	// there; nil writes it as it is. An error ends the capture with nothing
	// written and nothing committed.
	Review func(patch []byte) ([]byte, error)
}

// Patch is what a writer changed, recorded.
type Patch struct {
	Files  []Change
	Bytes  int64  // of the patch as git made it
	Commit string // snapshot; Base's commit when nothing changed
	Tree   string // tree object of the snapshot
	Base   string
	// Unseen are submodules of a worktree in which something was changed: git records
	// a submodule by its commit only, so that is in neither patch nor commit.
	Unseen []string
}

// Changed lists what differs from the base now, in submodules too, without recording
// anything on a branch.
func (t *Tree) Changed(ctx context.Context) (files []Change, err error) {
	ix, tree, err := t.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ix.remove()) }()
	if files, err = t.changes(ctx, tree); err != nil {
		return nil, err
	}
	_, inside, err := t.inSubmodules(ctx, ix)
	return append(files, inside...), err
}

// State is the tree object of the files as they are now, for comparing with a later one.
// Nothing else is recorded, and the tree's own index is left alone.
func (t *Tree) State(ctx context.Context) (tree string, err error) {
	ix, tree, err := t.snapshot(ctx)
	if err != nil {
		return "", err
	}
	return tree, ix.remove()
}

// Capture records everything that differs from the base, untracked files and
// binaries included and ignored files not: as a patch that `git apply` takes on
// the base, and as one commit on the worktree's branch, whatever the agent itself
// committed. For the shared checkout the commit is on no branch and the person's
// index is not touched. It may be called again when an earlier call did not come
// to its end: the branch holds one snapshot.
func (t *Tree) Capture(ctx context.Context, req CaptureRequest) (p Patch, err error) {
	ix, tree, err := t.snapshot(ctx)
	if err != nil {
		return Patch{}, err
	}
	defer func() { err = errors.Join(err, ix.remove()) }()
	p = Patch{Base: t.Base, Tree: tree, Commit: t.parent}
	if p.Files, err = t.changes(ctx, tree); err != nil {
		return Patch{}, err
	}
	if p.Unseen, err = t.unseen(ctx, ix); err != nil {
		return Patch{}, err
	}
	if p.Bytes, err = t.writePatch(ctx, tree, req); err != nil {
		return Patch{}, err
	}
	failpoint.Hit(failpoint.PatchThere)
	if len(p.Files) > 0 {
		if p.Commit, err = t.commit(ctx, tree, req); err != nil {
			return Patch{}, err
		}
	}
	failpoint.Hit(failpoint.SnapshotMade)
	if !t.shared && t.Branch != "" {
		err = t.settle(ctx, ix, p.Commit)
	}
	failpoint.Hit(failpoint.SnapshotBranch)
	return p, err
}

// snapshot records the tree's present state through a temporary index, which the
// caller removes.
func (t *Tree) snapshot(ctx context.Context) (*index, string, error) {
	g, err := t.git.inert(ctx)
	if err != nil {
		return nil, "", err
	}
	ix, err := newIndex(g, t.seed)
	if err != nil {
		return nil, "", err
	}
	tree, err := ix.add(ctx)
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("recording %s: %w", t.Dir, err), ix.remove())
	}
	return ix, tree, nil
}

// changes lists the paths that differ between the base and tree.
func (t *Tree) changes(ctx context.Context, tree string) ([]Change, error) {
	return t.git.compare(ctx, t.Base, tree)
}

// Compare lists the paths that differ between two commits or trees.
func (r *Repo) Compare(ctx context.Context, base, commit string) ([]Change, error) {
	return r.git.compare(ctx, base, commit)
}

func (g git) compare(ctx context.Context, from, to string) ([]Change, error) {
	out, err := g.run(ctx, "diff-tree", "-r", "-z", "--raw", "--numstat", "--no-renames", "--full-index",
		"--no-ext-diff", "--no-textconv", "--end-of-options", from, to)
	if err != nil {
		return nil, err
	}
	return changesIn(fields(out))
}

// changesIn reads what git says of a comparison: for each file a raw line and its name,
// then for each file how many lines differ.
func changesIn(parts []string) ([]Change, error) {
	var files []Change
	at := map[string]int{}
	for len(parts) > 1 && strings.HasPrefix(parts[0], ":") {
		meta := strings.Fields(parts[0][1:])
		if len(meta) != 5 {
			return nil, fmt.Errorf("git diff-tree: %q is not a raw diff line", parts[0])
		}
		at[parts[1]] = len(files)
		files = append(files, Change{Path: parts[1], Status: meta[4], OldMode: meta[0], Mode: meta[1]})
		parts = parts[2:]
	}
	for _, line := range parts {
		i, err := -1, error(nil)
		if words := strings.SplitN(line, "\t", 3); len(words) == 3 {
			if k, ok := at[words[2]]; ok {
				i, err = k, files[k].count(words[0], words[1])
			}
		}
		if i < 0 || err != nil {
			return nil, fmt.Errorf("git diff-tree: %q does not count the lines of a changed file", line)
		}
	}
	return files, nil
}

// count takes in what git counted; it says "-" of what is binary.
func (c *Change) count(added, deleted string) (err error) {
	if added == "-" && deleted == "-" {
		c.Binary = true
		return nil
	}
	a, errA := strconv.Atoi(added)
	d, errD := strconv.Atoi(deleted)
	c.Added, c.Deleted = c.Added+a, c.Deleted+d
	return errors.Join(errA, errD)
}

// writePatch makes the patch and puts what the review lets through on disk.
func (t *Tree) writePatch(ctx context.Context, tree string, req CaptureRequest) (int64, error) {
	most := req.MaxBytes
	if most <= 0 {
		most = DefaultMaxPatch
	}
	patch := &bounded{left: most}
	_, err := t.git.do(ctx, call{out: patch, args: []string{
		"diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--no-color", "--unified=3", "--src-prefix=a/", "--dst-prefix=b/", t.Base, tree,
	}})
	if patch.over {
		return 0, fmt.Errorf("the patch of %s is over %d bytes; the work is kept there, commit it by hand or keep what was generated out of it (.gitignore)", t.Dir, most)
	}
	if err != nil {
		return 0, err
	}
	data := patch.buf.Bytes()
	keep := data
	if req.Review != nil {
		if keep, err = req.Review(data); err != nil {
			return 0, err
		}
	}
	if req.PatchPath != "" {
		err = replaceFile(req.PatchPath, keep)
	}
	return int64(len(data)), err
}

// bounded collects up to left bytes and remembers that there were more.
type bounded struct {
	buf  bytes.Buffer
	left int64
	over bool
}

// Write refuses what is over the bound, which ends the writing process.
func (b *bounded) Write(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		b.over = true
		return 0, errors.New("over the bound")
	}
	b.left -= int64(len(p))
	return b.buf.Write(p)
}

// replaceFile writes data beside path and puts it in place in one step, durable
// before it has its name. What a process left that died before that is written over.
func replaceFile(path string, data []byte) error {
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".0.tmp")
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return nil
}

// commit makes the snapshot commit, on no branch yet.
func (t *Tree) commit(ctx context.Context, tree string, req CaptureRequest) (string, error) {
	message := req.Message
	if message == "" {
		message = "Snapshot of " + filepath.Base(t.Dir)
	}
	if len(req.Trailers) > 0 {
		message += "\n\n" + strings.Join(req.Trailers, "\n")
	}
	var env []string
	if req.Author != "" {
		env = append(env, "GIT_AUTHOR_NAME="+req.Author)
	}
	if !req.At.IsZero() {
		date := fmt.Sprintf("@%d +0000", req.At.Unix())
		env = append(env, "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	}
	out, err := t.git.do(ctx, call{
		args:  []string{"commit-tree", tree, "-p", t.parent, "-F", "-"},
		stdin: strings.NewReader(message + "\n"),
		env:   env,
	})
	return strings.TrimSpace(string(out)), err
}

// settle puts the snapshot on the branch and makes HEAD and index agree with it,
// whatever the agent did to them, so that `git status` in the worktree is clean.
func (t *Tree) settle(ctx context.Context, ix *index, commit string) error {
	ref := "refs/heads/" + t.Branch
	if err := t.unlock(); err != nil {
		return err
	}
	if _, err := t.git.run(ctx, "symbolic-ref", "HEAD", ref); err != nil {
		return err
	}
	if _, err := t.git.run(ctx, "update-ref", "-m", "orchestrate: snapshot", ref, commit); err != nil {
		return err
	}
	return copyIndex(ix.path, filepath.Join(t.git.gitDir, "index"))
}

// unlock removes the lock files that a killed git, the agent's or an earlier one
// of ours, left on the worktree's HEAD, index and branch. No process of the
// attempt is left by now, and these are nobody else's.
func (t *Tree) unlock() error {
	return errors.Join(
		removeIfThere(filepath.Join(t.git.gitDir, "HEAD.lock")),
		removeIfThere(filepath.Join(t.git.gitDir, "index.lock")),
		removeIfThere(refLock(t.common, t.Branch)),
	)
}

// refLock is the file with which git locks a branch of the repository whose git
// directory is common.
func refLock(common, branch string) string {
	return filepath.Join(common, "refs", "heads", filepath.FromSlash(branch)+".lock")
}

func removeIfThere(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
