//go:build nolocks

package history

import "os"

// lock gives everybody the lock: a build that shows what it is for.
func lock(*os.File) error { return nil }
