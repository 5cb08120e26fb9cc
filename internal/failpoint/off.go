//go:build !faults || !linux

package failpoint

// Enabled says whether this build has failpoints.
const Enabled = false

// Hit does nothing in this build.
func Hit(string) {}

// Env is what a program of ours that starts with an empty environment must get so
// that its failpoints work: nothing in this build.
func Env() []string { return nil }
