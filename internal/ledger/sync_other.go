//go:build !linux

package ledger

import "os"

// syncData waits until the file's content is on the disk.
func syncData(f *os.File) error { return f.Sync() }
