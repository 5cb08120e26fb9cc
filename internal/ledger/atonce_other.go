//go:build !linux

package ledger

import "io/fs"

// createWhole makes a file with its content; it is empty for a moment. It fails with
// fs.ErrExist where there is one.
func createWhole(path string, data []byte, mode fs.FileMode) error {
	return createPlain(path, data, mode)
}
