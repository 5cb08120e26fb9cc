package engine

import "io/fs"

// mine reports whether a file belongs to this account: its folder for temporary files is
// nobody else's there.
func mine(fs.FileInfo) bool { return true }
