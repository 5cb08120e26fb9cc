//go:build linux

package campaign

// Kind is a way in which a run can be broken.
type Kind string

// The kinds of fault.
const (
	Lost    Kind = "lost"    // a success, or an attempt that should have been adopted
	Doubled Kind = "doubled" // something happened twice or side by side
	Orphan  Kind = "orphan"  // a process or control group is left
	Torn    Kind = "torn"    // a file is not whole or not as published
	Differs Kind = "differs" // the report is not that of an undisturbed run
	Stuck   Kind = "stuck"   // the run did not go on or did not end
)

// Kinds are all of them.
var Kinds = []Kind{Lost, Doubled, Orphan, Torn, Differs, Stuck}

// Fault is something that must not be so.
type Fault struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
}
