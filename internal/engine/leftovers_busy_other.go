//go:build !linux

package engine

// occupant is a process and the folder that it works in.
type occupant struct {
	pid int
	dir string
}

// program says nothing, as occupants.
func (occupant) program() string { return "" }

// occupants says nothing here: a folder that a process works in cannot be told from
// another.
func occupants() []occupant { return nil }
