//go:build unix

package engine

import (
	"io/fs"
	"os"
	"syscall"
)

// mine reports whether a file belongs to this account.
func mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
