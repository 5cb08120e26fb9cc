package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/failpoint"
)

// gonePrefix begins the name of a folder that is being removed. Nobody works there any
// more and all that counted in it is saved.
const gonePrefix = ".orchestrate-gone."

// asidePrefix begins the name of one that is looked at for the last time before that.
const asidePrefix = ".orchestrate-aside."

// RemoveRun removes the directory of a run with all that is in it, where it is still the
// folder is. It never follows a link, never leaves the folder and makes folders writable
// that are not. The folder first takes another name beside its own: where it has been
// half removed nobody takes the rest for a run.
func RemoveRun(dir string, is fs.FileInfo) error {
	return removeFolder(dir, sameAs(is), nil)
}

// removeFolder removes a folder that proves to be the one that is meant. last looks at it
// once nobody finds it by its name any more; what it finds amiss gives the name back.
func removeFolder(dir string, is proof, last func(aside string) error) error {
	prefix := gonePrefix
	if last != nil {
		prefix = asidePrefix
	}
	at, err := setAside(dir, is, prefix)
	if err != nil || at == "" {
		return err
	}
	if last != nil {
		failpoint.Hit(failpoint.CleanAside)
		if err := last(at); err != nil {
			return errors.Join(err, putBack(at, dir))
		}
		if at, err = letGo(at); err != nil {
			return err
		}
	}
	return RemoveGone(at)
}

// letGo gives a folder that was looked at the name of one that is being removed.
func letGo(aside string) (gone string, err error) {
	parent, err := openReal(filepath.Dir(aside))
	if err != nil {
		return "", err
	}
	defer parent.Close() //nolint:errcheck // nothing was written through it
	name := freeName(parent, gonePrefix, strings.TrimPrefix(filepath.Base(aside), asidePrefix))
	return filepath.Join(filepath.Dir(aside), name), parent.Rename(filepath.Base(aside), name)
}

// PutBack gives folders below dir their names back that a removal was looking at when it
// was cut off. Nobody else may be removing anything there.
func PutBack(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Name(), asidePrefix); ok && e.IsDir() {
			err = errors.Join(err, putBack(filepath.Join(dir, e.Name()), filepath.Join(dir, name)))
		}
	}
	return err
}

// putBack gives a folder that was set aside its name back, unless that is taken.
func putBack(gone, dir string) error {
	parent, err := openReal(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer parent.Close() //nolint:errcheck // nothing was written through it
	base := filepath.Base(dir)
	if _, err := parent.Lstat(base); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("what was there is in %s now, since something else was put in its place", gone)
	}
	return parent.Rename(filepath.Base(gone), base)
}

// SetRunAside gives the directory of a run the name of one that is being removed, where
// it is still the folder is; "" when it is not there.
func SetRunAside(dir string, is fs.FileInfo) (gone string, err error) {
	return setAside(dir, sameAs(is), gonePrefix)
}

func sameAs(is fs.FileInfo) proof {
	return func(root *os.Root) error {
		info, err := root.Stat(".")
		if err == nil && !os.SameFile(info, is) {
			err = errors.New("something else is in its place")
		}
		return err
	}
}

// setAside gives a folder a name with this prefix; "" when it is not there.
// What it renamed is held against what it had looked at: somebody may have put another
// one in its place in between, which gets its name back.
func setAside(dir string, is proof, prefix string) (gone string, err error) {
	parent, err := openReal(filepath.Dir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, parent.Close()) }()
	base := filepath.Base(dir)
	seen, err := proven(parent, base, is)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		err = writable(parent, base, seen)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	name := freeName(parent, prefix, base)
	if err := parent.Rename(base, name); err != nil {
		return "", err
	}
	if info, err := parent.Lstat(name); err != nil || !os.SameFile(info, seen) {
		return "", errors.Join(fmt.Errorf("%s: something else was put in its place", dir), err, parent.Rename(name, base))
	}
	return filepath.Join(filepath.Dir(dir), name), nil
}

// freeName is a free name with a prefix.
func freeName(parent *os.Root, prefix, name string) string {
	gone := prefix + name
	for n := 2; ; n++ {
		if _, err := parent.Lstat(gone); errors.Is(err, fs.ErrNotExist) {
			return gone
		}
		gone = fmt.Sprintf("%s%s.%d", prefix, name, n)
	}
}

// GoneIn are the folders below dir that no removal came to the end of.
func GoneIn(dir string) (all []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), gonePrefix) {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all, err
}

// RemoveGone removes what GoneIn found.
func RemoveGone(dir string) (err error) {
	name := filepath.Base(dir)
	if !strings.HasPrefix(name, gonePrefix) {
		return fmt.Errorf("%s is no folder that was being removed", dir)
	}
	parent, err := openReal(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, parent.Close()) }()
	info, err := parent.Lstat(name)
	if err != nil {
		return err
	}
	return raze(parent, name, info)
}

// raze removes a folder of parent. What makes git ignore a run directory goes last.
func raze(parent *os.Root, name string, is fs.FileInfo) error {
	if err := writable(parent, name, is); err != nil {
		return err
	}
	root, err := openSame(parent, name, is)
	if err != nil {
		return err
	}
	d, err := root.Open(".")
	if err != nil {
		return errors.Join(err, root.Close())
	}
	names, err := d.Readdirnames(-1)
	err = errors.Join(err, d.Close())
	for _, n := range names {
		if n != ".gitignore" && err == nil {
			err = root.RemoveAll(n)
		}
	}
	if err == nil {
		err = root.RemoveAll(".gitignore")
	}
	if err = errors.Join(err, root.Close()); err != nil {
		return err
	}
	return parent.Remove(name)
}

// openSame opens a folder of parent that was looked at.
func openSame(parent *os.Root, name string, is fs.FileInfo) (*os.Root, error) {
	root, err := parent.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if err := sameAs(is)(root); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), root.Close())
	}
	return root, nil
}

// writable lets every folder below one be emptied. It refuses one in which another file
// system is mounted: that is somebody else's.
func writable(parent *os.Root, name string, is fs.FileInfo) error {
	root, err := openSame(parent, name, is)
	if err != nil {
		return err
	}
	err = fs.WalkDir(root.FS(), ".", func(at string, e fs.DirEntry, err error) error {
		if e == nil || !e.IsDir() || err != nil {
			return err
		}
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case device(info) != device(is):
			return fmt.Errorf("another file system is mounted in it, at %s; unmount that first", at)
		case info.Mode().Perm()&0o700 != 0o700:
			return root.Chmod(at, 0o700)
		}
		return nil
	})
	return errors.Join(err, root.Close())
}

// RemoveTree removes a worktree that an earlier run added: its files, then what git
// keeps of it, or did: gitDir is that also where git has forgotten it. Whoever calls it
// has saved what is in it. What is there is proven once more to be that worktree.
func (r *Repo) RemoveTree(ctx context.Context, dir, gitDir string) error {
	return r.RemoveSaved(ctx, dir, gitDir, nil)
}

// RemoveSaved is RemoveTree with a last look at the files, for what was written while the
// first one saved them: they have left their place by then, and are there again if it
// fails.
func (r *Repo) RemoveSaved(ctx context.Context, dir, gitDir string, last func(gone string) error) error {
	at, err := resolved(dir)
	if err != nil {
		return err
	}
	if gitDir != "" {
		if err := r.stillOf(at, gitDir); err != nil {
			return err
		}
		if registration(gitDir).Dir == "" && at != filepath.Clean(dir) { // git does not say where it was
			return fmt.Errorf("%w: a link leads from %s to %s", ErrNotProven, dir, at)
		}
	}
	if err := removeFolder(at, ofTree(at, gitDir), last); err != nil {
		return err
	}
	failpoint.Hit(failpoint.CleanTree)
	if gitDir == "" {
		return nil
	}
	err = r.unregister(ctx, at, gitDir)
	failpoint.Hit(failpoint.CleanRegistration)
	return err
}

// unregister takes a worktree whose folder is gone from what git knows, while nobody adds
// one: git reads all registrations then.
func (r *Repo) unregister(ctx context.Context, dir, gitDir string) error {
	_, leave, err := r.turn(ctx, adding{})
	if err != nil {
		return err
	}
	defer leave()
	switch _, err := os.Lstat(dir); {
	case err == nil:
		return fmt.Errorf("%s is there again", dir)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := r.stillOf(dir, gitDir); err != nil {
		return err
	}
	// `gitdir` goes with the rest, never before it: a registration without it makes
	// git's own commands fail.
	moved := filepath.Join(r.common, "orchestrate", gonePrefix+filepath.Base(gitDir))
	if err := os.RemoveAll(moved); err != nil {
		return err
	}
	if err := os.Rename(gitDir, moved); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(moved)
}

// stillOf makes sure that a registration is that of a worktree, and nobody's lock is on it.
func (r *Repo) stillOf(dir, gitDir string) error {
	if filepath.Dir(filepath.Clean(gitDir)) != filepath.Join(r.common, "worktrees") {
		return fmt.Errorf("%s is none of the worktrees of %s", gitDir, r.Top())
	}
	if reg := registration(gitDir); reg.Locked || reg.Dir != "" && !reg.At(dir) {
		return fmt.Errorf("what git keeps in %s is not of %s any more, or somebody locked it", gitDir, dir)
	}
	return nil
}

// DeleteBranch deletes a branch if it is still at the commit.
func (r *Repo) DeleteBranch(ctx context.Context, branch, commit string) error {
	if !within(branch) || commit == "" {
		return fmt.Errorf("%q at %q is no branch of a run", branch, commit)
	}
	_, err := r.git.run(ctx, "update-ref", "--no-deref", "-m", "orchestrate: clean", "-d", "refs/heads/"+branch, commit)
	failpoint.Hit(failpoint.CleanBranch)
	return err
}
