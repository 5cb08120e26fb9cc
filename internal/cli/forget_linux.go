package cli

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// forget drops what was typed at a terminal and not read yet. It leaves the file as it
// is, so that closing it ends a read.
func forget(tty *os.File) error {
	raw, err := tty.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) { err = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) })
	return errors.Join(failed, err)
}
