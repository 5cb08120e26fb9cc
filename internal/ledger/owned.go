package ledger

import (
	"errors"
	"os"
	"path/filepath"
)

// Owned reports whether a process holds the run: a run that has not ended and
// that nobody owns was cut off.
func Owned(dir string) (bool, error) {
	f, err := os.OpenFile(filepath.Join(dir, RunLockFile), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ok, err := lockFile(f)
	return !ok && err == nil, errors.Join(err, f.Close())
}
