//go:build unix

package workspace

import (
	"fmt"
	"path/filepath"
	"syscall"
)

// Writable says why no worktree can be added because the git directory cannot be
// written, nil = nothing of that kind. Nothing is tried.
func (r *Repo) Writable() error {
	const write = 2 // W_OK
	for _, name := range []string{"", "objects", "refs/heads", "worktrees"} {
		dir := filepath.Join(r.common, filepath.FromSlash(name))
		if err := syscall.Access(dir, write); err != nil && !absent(err) {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return nil
}
