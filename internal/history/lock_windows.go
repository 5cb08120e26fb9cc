//go:build !nolocks

package history

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes, if nobody has it, the lock of a byte far behind the content, so that
// readers are not kept out.
func tryLock(f *os.File) (bool, error) {
	behind := &windows.Overlapped{OffsetHigh: 1 << 30}
	const now = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), now, 0, 1, 0, behind)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
