//go:build unix && !nolocks

package ledger

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes the advisory lock of an open file and never waits: ok is false
// while somebody else holds it. The kernel drops the lock when the last copy of
// the descriptor is closed, in whatever process.
func lockFile(f *os.File) (ok bool, err error) {
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}
