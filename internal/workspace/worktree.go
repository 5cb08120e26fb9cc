package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/failpoint"
)

// ErrBranchExists says that a branch of the wanted name is there already.
var ErrBranchExists = errors.New("the branch exists already")

// baseIndex is our copy of a fresh worktree's index, beside git's own. An agent
// that got at git's could hide a change in it.
const baseIndex = "orchestrate-base-index"

// Tree is what one writer changes: a worktree of its own, or the shared checkout.
type Tree struct {
	Dir    string // absolute
	Branch string // "" for the shared checkout and for a tree without a branch
	Base   string // the commit (shared checkout: the tree) that changes are told from

	shared bool   // the user's own checkout
	common string // git directory of the repository; "" for the shared checkout
	git    git
	seed   string // index that describes Base
	parent string // parent of the snapshot commit
}

// AddWorktree checks sha out into the new folder dir on the new branch; an empty
// name makes a tree on no branch, for one that only looks. It waits for its turn
// when another is being added: git reads what it has registered of all worktrees
// meanwhile, and fails on one that is half written. Nothing that is there is
// overwritten: an existing branch is ErrBranchExists.
func (r *Repo) AddWorktree(ctx context.Context, dir, branch, sha string) (*Tree, error) {
	lock, leave, err := r.turn(ctx, adding{dir, branch})
	if err != nil {
		return nil, err
	}
	defer leave()
	on := []string{"--detach"}
	if branch != "" {
		on = []string{"--no-track", "-b", branch}
		if err := r.free(ctx, branch); err != nil {
			return nil, err
		}
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("the worktree's folder %s exists already and is not empty; nothing of it was touched; move it away and try again", dir)
	}
	g, err := r.git.inert(ctx)
	if err != nil {
		return nil, err
	}
	args := append(append([]string{"worktree", "add", "--quiet"}, on...), "--", dir, sha)
	if _, err := g.do(ctx, call{args: args, lock: lock}); err != nil {
		return nil, errors.Join(fmt.Errorf("adding the worktree %s: %w", dir, err), r.mend(adding{dir, branch}), r.dropBranch(ctx, branch, sha))
	}
	failpoint.Hit(failpoint.TreeAdded)
	t, err := r.newTree(dir, branch, sha)
	if err != nil {
		return nil, err
	}
	return t, t.fillSubmodules(ctx, r)
}

// dropBranch removes the branch that a failed add may have made a moment ago.
func (r *Repo) dropBranch(ctx context.Context, branch, sha string) error {
	if branch == "" {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // a cancelled add leaves nothing behind either
	ref := "refs/heads/" + branch
	if _, err := r.git.run(ctx, "show-ref", "--verify", "--quiet", ref); code(err) == 1 {
		return nil
	}
	_, err := r.git.run(ctx, "update-ref", "-d", ref, sha)
	return err
}

// newTree learns where git keeps a worktree while its files are still ours.
func (r *Repo) newTree(dir, branch, sha string) (*Tree, error) {
	link, err := os.ReadFile(filepath.Join(dir, ".git"))
	if err != nil {
		return nil, fmt.Errorf("the new worktree: %w", err)
	}
	gitDir, ok := strings.CutPrefix(strings.TrimSuffix(string(link), "\n"), "gitdir: ")
	if !ok {
		return nil, fmt.Errorf("the new worktree %s: its .git file is not a link to a git directory", dir)
	}
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(dir, gitDir)
	}
	t := r.treeAt(TreePlace{Dir: dir, GitDir: gitDir, Branch: branch, Base: sha})
	return t, copyIndex(filepath.Join(gitDir, "index"), t.seed)
}

// adding is a worktree that is being added, as noted in the lock for it.
type adding struct {
	Dir    string `json:"dir"`
	Branch string `json:"branch"`
}

// turn waits until nobody adds a worktree to the repository, in no process, and
// notes in the lock which one is next. A note that is still there is of one that
// died in the middle; what it left is mended.
func (r *Repo) turn(ctx context.Context, next adding) (lock *os.File, leave func(), err error) {
	select {
	case r.adding <- struct{}{}: // among ourselves without polling
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if lock, err = r.addLock(ctx, next); err != nil {
		<-r.adding
		return nil, nil, err
	}
	return lock, func() {
		_ = lock.Truncate(0) // a note too many costs the next one a look
		_ = lock.Close()     // the kernel drops the lock with the descriptor whatever Close says
		<-r.adding
	}, nil
}

// addLock takes the lock for adding a worktree.
func (r *Repo) addLock(ctx context.Context, next adding) (*os.File, error) {
	own := filepath.Join(r.common, "orchestrate")
	if err := os.MkdirAll(own, 0o755); err != nil {
		return nil, fmt.Errorf("the lock for adding worktrees: %w", err)
	}
	lock, err := hold(ctx, filepath.Join(own, "add"), nil)
	if err != nil {
		return nil, fmt.Errorf("waiting for another process that adds a worktree to %s: %w", r.Top(), err)
	}
	if err := r.takeOver(lock, next); err != nil {
		return nil, errors.Join(fmt.Errorf("the lock for adding worktrees: %w", err), lock.Close())
	}
	return lock, nil
}

// takeOver mends what the note in the lock tells of, and notes the next one.
func (r *Repo) takeOver(lock *os.File, next adding) error {
	text, err := io.ReadAll(io.NewSectionReader(lock, 0, 1<<16))
	if err != nil {
		return err
	}
	var dead adding
	if json.Unmarshal(text, &dead) == nil { // a torn note is of one that did not begin
		if err := r.mend(dead); err != nil {
			return err
		}
	}
	text, err = json.Marshal(next)
	if err != nil {
		return err
	}
	return rewrite(lock, string(text))
}

// mend removes what git left of a worktree whose adding was cut off: an empty file
// in its registration makes every later worktree command fail, and that or a lock
// on its branch the person's gc. Nobody worked in it yet; the folder itself is left
// as it is.
func (r *Repo) mend(dead adding) error {
	if dead.Branch != "" && within(dead.Branch) {
		if err := removeIfThere(refLock(r.common, dead.Branch)); err != nil {
			return err
		}
	}
	all := filepath.Join(r.common, "worktrees")
	entries, err := os.ReadDir(all)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if at := filepath.Join(all, e.Name()); e.IsDir() && halfAdded(at, dead.Dir) {
			if err := os.RemoveAll(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// halfAdded tells whether a registration is that of the worktree dir and still
// has git's own mark of being made.
func halfAdded(at, dir string) bool {
	mark, err := os.ReadFile(filepath.Join(at, "locked"))
	if err != nil || !strings.HasPrefix("initializing", strings.TrimSpace(string(mark))) {
		return false
	}
	if link, err := os.ReadFile(filepath.Join(at, "gitdir")); err == nil && len(link) > 0 {
		return names(at, "gitdir", filepath.Join(dir, ".git")) == nil
	}
	number, ok := strings.CutPrefix(filepath.Base(at), filepath.Base(dir)) // git adds one to a name that is taken
	return ok && strings.Trim(number, "0123456789") == ""
}

// free makes sure that the branch does not exist, and says who has it otherwise.
func (r *Repo) free(ctx context.Context, branch string) error {
	_, err := r.git.run(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+branch)
	if code(err) == 1 {
		return nil
	}
	if err != nil {
		return err
	}
	holder, err := r.holder(ctx, branch)
	if err != nil {
		return err
	}
	way := "look at it with: git log " + branch + " -- and move it out of the way with: git branch -m " + branch + " NEW-NAME"
	if holder != "" {
		return fmt.Errorf("%w: %s, checked out in %s; nothing of it was touched; %s", ErrBranchExists, branch, holder, way)
	}
	return fmt.Errorf("%w: %s; nothing of it was touched; %s", ErrBranchExists, branch, way)
}

// holder is the worktree that has the branch checked out, or "".
func (r *Repo) holder(ctx context.Context, branch string) (string, error) {
	out, err := r.git.run(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return "", err
	}
	var dir string
	for _, line := range fields(out) {
		if d, ok := strings.CutPrefix(line, "worktree "); ok {
			dir = d
		}
		if line == "branch refs/heads/"+branch {
			return dir, nil
		}
	}
	return "", nil
}
