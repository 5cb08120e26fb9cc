package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotProven says that a folder is not what it would have to be to be removed.
var ErrNotProven = errors.New("nothing proves that it is the worktree that was made there")

// Proven makes sure that a folder is the worktree of a registration, whether git still
// knows that or not: no link is on the way to it, and its own .git says so. It is
// ErrNotProven where it is another's; one that is not there is fs.ErrNotExist.
func Proven(dir, gitDir string) error {
	parent, err := openReal(filepath.Dir(dir))
	if err != nil {
		return err
	}
	_, err = proven(parent, filepath.Base(dir), ofTree(dir, gitDir))
	return errors.Join(err, parent.Close())
}

// openReal opens a folder to which no link leads: through what it returns nothing is
// reached that lies elsewhere, whatever is put in its way from then on.
func openReal(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	is, err := root.Stat(".")
	real, errReal := filepath.EvalSymlinks(dir)
	now, errNow := os.Lstat(dir)
	if err = errors.Join(err, errReal, errNow); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	if !samePath(real, filepath.Clean(dir)) || !os.SameFile(is, now) {
		return nil, errors.Join(fmt.Errorf("%w: a link leads from %s to %s", ErrNotProven, dir, real), root.Close())
	}
	return root, nil
}

// Linked reports whether something else than a folder is at a path, a link to one perhaps.
func Linked(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.IsDir()
}

// samePath reports whether two paths without links are one. Some systems take letters of
// either case for the same.
func samePath(a, b string) bool {
	if a == b || !strings.EqualFold(a, b) {
		return a == b
	}
	one, errOne := os.Lstat(a)
	other, errOther := os.Lstat(b)
	return errOne == nil && errOther == nil && os.SameFile(one, other)
}

// proof looks into a folder and says why it is not the one that is meant.
type proof func(root *os.Root) error

// proven identifies a folder of parent that is the one meant.
func proven(parent *os.Root, name string, is proof) (fs.FileInfo, error) {
	seen, err := parent.Lstat(name)
	if err == nil && !seen.IsDir() {
		err = errors.New("not a folder")
	}
	if err != nil {
		return nil, err
	}
	root, err := parent.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil && !os.SameFile(seen, info) {
		err = fmt.Errorf("%w: it changes while it is looked at", ErrNotProven)
	}
	if err == nil {
		err = is(root)
	}
	return info, errors.Join(err, root.Close())
}

// ofTree proves the worktree of a registration. One that git was cut off at before it
// had its .git has nothing in it.
func ofTree(dir, gitDir string) proof {
	return func(root *os.Root) error {
		info, err := root.Lstat(".git")
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return empty(root)
		case err != nil:
			return err
		case !info.Mode().IsRegular() || info.Size() > 1<<16:
			return fmt.Errorf("%w: its .git is not the file that git made", ErrNotProven)
		}
		link, err := root.ReadFile(".git")
		if err != nil {
			return err
		}
		if !linksTo(link, dir, gitDir) {
			return fmt.Errorf("%w: its .git says %.200q", ErrNotProven, strings.TrimSpace(string(link)))
		}
		return nil
	}
}

// linksTo reports whether the .git file of a worktree names this git directory.
func linksTo(link []byte, dir, gitDir string) bool {
	to, ok := strings.CutPrefix(strings.TrimRight(string(link), "\r\n"), "gitdir: ")
	if to = filepath.FromSlash(to); !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	return ok && gitDir != "" && samePath(filepath.Clean(to), filepath.Clean(gitDir))
}

// empty makes sure that nothing is in a folder.
func empty(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	names, err := d.Readdirnames(1)
	if err = errors.Join(err, d.Close()); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(names) > 0 {
		return fmt.Errorf("%w: it has no .git", ErrNotProven)
	}
	return nil
}
