package ledger

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData waits until the file's content is on the disk.
func syncData(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err != unix.EINTR {
			return err
		}
	}
}
