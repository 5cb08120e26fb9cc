package cli

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// readQueue is FREAD of <sys/fcntl.h>.
const readQueue = 1

// forget drops what was typed at a terminal and not read yet. It leaves the file as it
// is, so that closing it ends a read.
func forget(tty *os.File) error {
	raw, err := tty.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) { err = unix.IoctlSetPointerInt(int(fd), unix.TIOCFLUSH, readQueue) })
	return errors.Join(failed, err)
}
