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
)

// adding is a worktree that is being added, as noted in the lock for it.
type adding struct {
	Dir    string `json:"dir"`
	Branch string `json:"branch"`
	// Claimed is the commit at which the branch was made for it, "" = it was not yet.
	Claimed string `json:"claimed,omitempty"`
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
	if err := r.takeOver(context.WithoutCancel(ctx), lock, next); err != nil {
		return nil, errors.Join(fmt.Errorf("the lock for adding worktrees: %w", err), lock.Close())
	}
	return lock, nil
}

// takeOver mends what the note in the lock tells of, and notes the next one.
func (r *Repo) takeOver(ctx context.Context, lock *os.File, next adding) error {
	text, err := io.ReadAll(io.NewSectionReader(lock, 0, 1<<16))
	if err != nil {
		return err
	}
	var dead adding
	if json.Unmarshal(text, &dead) == nil { // a torn note is of one that did not begin
		if err := errors.Join(r.mend(dead), r.disclaim(ctx, dead)); err != nil {
			return err
		}
	}
	return noteIn(lock, next)
}

func noteIn(lock *os.File, a adding) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return rewrite(lock, string(text))
}

// disclaim removes the branch of a worktree that was never registered, unless somebody
// has used it since.
func (r *Repo) disclaim(ctx context.Context, dead adding) error {
	if dead.Claimed == "" {
		return nil
	}
	if holder, err := r.holder(dead.Branch); holder != "" || err != nil {
		return err
	}
	ref := "refs/heads/" + dead.Branch
	at, err := r.git.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref)
	if code(err) == 1 || err == nil && strings.TrimSpace(string(at)) != dead.Claimed {
		return nil
	}
	if err == nil {
		_, err = r.git.run(ctx, "update-ref", "-d", ref, dead.Claimed)
	}
	return err
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
// has git's own mark of being made. A person's lock, which may say nothing, is none.
func halfAdded(at, dir string) bool {
	if _, err := os.Lstat(filepath.Join(at, "locked")); err != nil || registration(at).Locked {
		return false
	}
	if link, err := os.ReadFile(filepath.Join(at, "gitdir")); err == nil && len(link) > 0 {
		return names(at, "gitdir", filepath.Join(dir, ".git")) == nil
	}
	number, ok := strings.CutPrefix(filepath.Base(at), filepath.Base(dir)) // git adds one to a name that is taken
	return ok && strings.Trim(number, "0123456789") == ""
}
