package supervise

import "os"

// crashFile is nil: there is no file outside the disk here.
func crashFile() *os.File { return nil }
