//go:build !nolocks

package history

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock waits for the lock of a byte far behind the content, so that readers are
// not kept out; others hold it for one write.
func lock(f *os.File) error {
	behind := &windows.Overlapped{OffsetHigh: 1 << 30}
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, behind)
}
