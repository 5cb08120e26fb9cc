//go:build unix && !nolocks

package history

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock waits for the file's advisory lock; others hold it for one write.
func lock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err != unix.EINTR {
			return err
		}
	}
}
