//go:build unix

package cli

import (
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// writableSocket resolves a path to that of a socket which this account may write to.
func writableSocket(path string) (real string, ok bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	info, err := os.Stat(real)
	if err != nil || info.Mode()&fs.ModeSocket == 0 || unix.Access(real, unix.W_OK) != nil {
		return "", false
	}
	return real, true
}
