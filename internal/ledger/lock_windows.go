//go:build !nolocks

package ledger

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile takes the lock of an open file and never waits: ok is false while
// somebody else holds it. The system drops it when the handle is closed.
func lockFile(f *os.File) (ok bool, err error) {
	// Locked bytes cannot be read by others here: the one that is locked lies behind
	// all content.
	behind := &windows.Overlapped{OffsetHigh: 1 << 30}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, behind)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
