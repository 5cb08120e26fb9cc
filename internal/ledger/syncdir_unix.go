//go:build unix

package ledger

import "os"

// syncDir makes the names in a folder durable.
func syncDir(d *os.File) error { return d.Sync() }
