//go:build nolocks

package history

import "os"

// tryLock gives everybody the lock: a build that shows what it is for.
func tryLock(*os.File) (bool, error) { return true, nil }
