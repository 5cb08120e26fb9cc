// Package private makes the folder that one attempt has for itself: its temporary files
// and the caches of its tools. The person's own caches are only read in a sandbox; where
// a tool can use them so, its private cache begins with what is there.
package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Ask says for what a folder is made.
type Ask struct {
	// Parent is where it is made; a link there is followed.
	Parent string
	// Getenv is the environment of the job that gets it.
	Getenv func(string) string
	// Trees are the folders whose lock files say which of the person's downloads the job
	// will need: the top of its tree and its working folder.
	Trees []string
	// Open are folders that the operator opened for writing: caches in them are used
	// themselves.
	Open []string
	// Self is the path of this program, which serves as Go's build cache; "" = none.
	Self string
}

// Dir is a private folder.
type Dir struct {
	Path string   // without symbolic links
	Env  []string // NAME=value, over what the job has; never a secret
}

// prefix begins the name of every private folder.
const prefix = "orchestrate-"

// folders are made in each. Their names are short, since a socket's path may not be long.
var folders = []string{"tmp", "run", "cache", "go-build", "npm", "pnpm", "yarn", "cargo", "gradle"}

// Make makes a private folder that only this account may enter. What cannot be taken
// over from the person's caches is left out: the tools then work as with empty ones.
func Make(ask Ask) (_ Dir, err error) {
	parent, err := filepath.EvalSymlinks(ask.Parent)
	if err != nil {
		return Dir{}, fmt.Errorf("no place for temporary files in %s: %w", ask.Parent, err)
	}
	path, err := os.MkdirTemp(parent, prefix) // 0700
	if err != nil {
		return Dir{}, fmt.Errorf("private folder in %s: %w", parent, err)
	}
	d := Dir{Path: path}
	defer func() {
		if err != nil {
			err = errors.Join(err, Remove(path))
		}
	}()
	for _, name := range folders {
		if err := os.Mkdir(d.in(name), 0o700); err != nil {
			return Dir{}, fmt.Errorf("private folder: %w", err)
		}
	}
	d.seedNPM(ask)
	d.seedYarn(ask)
	d.Env = d.environment(ask)
	return d, nil
}

// in is a path inside.
func (d Dir) in(name string) string { return filepath.Join(d.Path, name) }

// Remove removes a private folder with all that is in it; one that is gone is fine. It
// follows no link out of it, and takes only what has the name of a private folder.
func Remove(path string) error {
	if ok, err := filepath.Match(prefix+"*", filepath.Base(path)); err != nil || !ok || !filepath.IsAbs(path) {
		return fmt.Errorf("%s is no private folder of a job", path)
	}
	if err := os.RemoveAll(path); err == nil {
		return nil
	}
	if err := unlock(path); err != nil {
		return fmt.Errorf("private folder: %w", err)
	}
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("private folder: %w", err)
	}
	return nil
}

// unlock makes every folder below one writable again: module caches are read-only.
func unlock(path string) (err error) {
	if err := os.Chmod(path, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(path) // holds also against links made meanwhile
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if e == nil || !e.IsDir() {
			return err
		}
		if err == nil {
			return root.Chmod(name, 0o700)
		}
		return err
	})
}
