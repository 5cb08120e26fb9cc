//go:build nolocks

package ledger

import "os"

// lockFile always succeeds: a test shows with it that locks are needed.
func lockFile(*os.File) (ok bool, err error) { return true, nil }
