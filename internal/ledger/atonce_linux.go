package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// createWhole makes a file that is never seen without its content. It fails with
// fs.ErrExist where there is one. Some file systems know no files without a name; there it
// is empty for a moment.
func createWhole(path string, data []byte, mode fs.FileMode) error {
	fd, err := unix.Open(filepath.Dir(path), unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, uint32(mode))
	if err != nil {
		return createPlain(path, data, mode)
	}
	f := os.NewFile(uintptr(fd), path)
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.Close())
	}
	err = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	switch closed := f.Close(); {
	case errors.Is(err, fs.ErrExist):
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	case err != nil: // no /proc, or a file system that links nothing
		return errors.Join(createPlain(path, data, mode), closed)
	default:
		return closed
	}
}
