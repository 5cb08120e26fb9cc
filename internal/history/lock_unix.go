//go:build unix && !nolocks

package history

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the file's advisory lock if nobody has it.
func tryLock(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		}
		return err == nil, err
	}
}
