//go:build unix

package cli

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// person is the terminal of who typed this command and waits for it: the one that
// standard input comes from, with this process in its foreground. Else it is nil. In the
// background a question would stop the process.
func person(in io.Reader) *os.File {
	f, ok := in.(*os.File)
	if !ok {
		return nil
	}
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	if err != nil || group != syscall.Getpgrp() {
		return nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	return tty
}
