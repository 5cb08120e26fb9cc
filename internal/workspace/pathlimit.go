package workspace

import (
	"fmt"
	"runtime"
	"strings"
)

// PathFits makes sure that a worktree's folder can be made, and that git's own file in
// it can: the error says which path is too long and what to do.
func PathFits(dir string) error {
	most := longestPath()
	if file := dir + "/.git"; len(file) > most {
		return fmt.Errorf("the path of the worktree is too long: %s has %d bytes, and this system takes %d; set worktree_root in the operator configuration to a shorter folder", file, len(file), most)
	}
	return nil
}

// longestPath is how many bytes a path may have on this system.
func longestPath() int {
	switch runtime.GOOS {
	case "windows":
		return 259
	case "darwin":
		return 1023
	}
	return 4095
}

// tooLong adds to git's error what a person can do when a path was too long for the
// system; git names it.
func tooLong(dir string, err error) error {
	if text := err.Error(); strings.Contains(text, "File name too long") || strings.Contains(text, "Filename too long") {
		return fmt.Errorf("%w; below %s (%d bytes) this system takes %d bytes for a whole path; set worktree_root in the operator configuration to a shorter folder", err, dir, len(dir), longestPath())
	}
	return err
}
