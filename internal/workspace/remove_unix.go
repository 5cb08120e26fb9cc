//go:build unix

package workspace

import (
	"io/fs"
	"syscall"
)

// device tells file systems apart.
func device(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev) //nolint:unconvert,nolintlint // it has another type on macOS
	}
	return 0
}
