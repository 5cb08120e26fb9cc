package engine

import "io/fs"

// onDisk is the size of a file: how much room it takes is not said here.
func onDisk(info fs.FileInfo) int64 { return info.Size() }
