//go:build nolocks

package workspace

import "os"

// tryLock gives everybody every lock: a build that shows what the locks are for.
func tryLock(*os.File) (bool, error) { return true, nil }
