package opencode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// projectRoot is the folder that the program takes for the project when it works
// in dir: the nearest one that is a git checkout, else the root of the disk. A
// wrong guess refuses edits that would be right; it opens nothing.
func projectRoot(dir string) string {
	for at := dir; ; {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		parent := filepath.Dir(at)
		if parent == at {
			return at
		}
		at = parent
	}
}

// closedIn refuses a folder in which a symbolic link leads out: the program looks
// at the name of a path only, so an edit through the link would land outside. An
// agent without a shell makes no links itself. A folder that is not there yet
// holds none.
func closedIn(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("whether links lead out of %s is not known: %w", dir, err)
	}
	return filepath.WalkDir(real, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("whether links lead out of %s is not known: %w", dir, err)
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.Type()&fs.ModeSymlink == 0:
			return nil
		}
		target, err := filepath.EvalSymlinks(path)
		if errors.Is(err, fs.ErrNotExist) {
			// What a dangling link names can still be created by writing to it.
			target, err = os.Readlink(path)
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(path), target)
			}
		}
		if err != nil {
			return fmt.Errorf("whether links lead out of %s is not known: %w", dir, err)
		}
		if target != real && !strings.HasPrefix(target, real+string(filepath.Separator)) {
			return fmt.Errorf("edits cannot be kept inside %s: the link %s leads out of it; remove the link or use a runtime with a sandbox", dir, path)
		}
		return nil
	})
}

// brings is a configuration of the project, from dir up to its root, that the program
// loads code from although it is told to leave projects out; "" = none.
func (b about) brings(dir string) (file string, err error) {
	root := projectRoot(dir)
	for at := dir; ; at = filepath.Dir(at) {
		for _, name := range b.files {
			_, err := os.Lstat(filepath.Join(at, name))
			switch {
			case err == nil:
				return filepath.Join(at, name), nil
			case !errors.Is(err, fs.ErrNotExist):
				return "", fmt.Errorf("%s cannot be bounded in %s: whether the project brings code is not known: %w", b.name, dir, err)
			}
		}
		if at == root || at == filepath.Dir(at) {
			return "", nil
		}
	}
}
