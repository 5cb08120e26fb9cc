package supervise

import (
	"os"

	"golang.org/x/sys/unix"
)

// crashFile keeps what a supervisor says when it crashes in memory, so that it
// touches no disk and needs no reader. Without one that text is lost, no more.
func crashFile() *os.File {
	fd, err := unix.MemfdCreate("orchestrate-supervise-stderr", unix.MFD_CLOEXEC)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), "supervisor stderr")
}
