// Package sandbox holds one process tree to what it may reach, by means of the kernel:
// Landlock on Linux. A Policy says what may be reached, the supervisor applies it in a
// child of its own just before that becomes the program (Command), and a Level says what
// this host was seen to enforce. Where nothing was seen to hold there is no control.
package sandbox

// Policy is what one process tree may reach of the file system. Paths are absolute and
// hold no symbolic link. What is named nowhere may be read and run, and not changed.
type Policy struct {
	// Write are folders, with all that is below them, and files that may be changed.
	Write []string `json:"write"`
	// Deny are folders and files whose content may not be read.
	Deny []string `json:"deny"`
	// Read are exceptions to Deny that may be read. Of Write, Deny and Read that lie in
	// one another the deepest counts; a Deny below a Write cannot be held and is an error.
	Read []string `json:"read"`
	// List are folders whose names may be listed, with those of all below, although
	// something below is denied. Any other folder that has something denied in it can be
	// entered and not listed.
	List []string `json:"list"`
}

// State says how far a host's sandbox can be relied on.
type State string

// The states of a host's sandbox.
const (
	Enforced    State = "enforced"    // the self-test of this command was held to its boundary
	Unavailable State = "unavailable" // nothing here can enforce it, or the self-test was not held
	Off         State = "off"         // the operator switched it off
)

// Landlock is the mechanism of Linux.
const Landlock = "landlock"

// Level is what this host enforces, and how that was shown. It is recorded with every
// run and shown by doctor.
type Level struct {
	State     State    `json:"state"`
	Mechanism string   `json:"mechanism"` // "" = none
	ABI       int      `json:"abi"`       // of Landlock; 0 = none
	Evidence  string   `json:"evidence"`  // of the self-test, or why there is none
	Limits    []string `json:"limits"`    // what it does not hold on this host
}

// Applied is what a process tree was really held by.
type Applied struct {
	Mechanism string `json:"mechanism"`
	ABI       int    `json:"abi"`
}

// Holds reports whether jobs can be put in it.
func (l Level) Holds() bool { return l.State == Enforced }
