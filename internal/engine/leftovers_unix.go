//go:build unix

package engine

import (
	"io/fs"
	"syscall"
)

// onDisk is the room that a file takes.
func onDisk(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}
