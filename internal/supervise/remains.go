package supervise

import (
	"fmt"
	"time"

	"orchestrate/internal/process"
)

// Remains is what was recorded of a tree whose supervisor died. Zero values were
// not recorded.
type Remains struct {
	Supervisor  process.Identity
	Program     process.Identity
	Cgroup      string // folder of the control group that the program was started in
	Descendants []Process
	Mark        string // NAME=value in the environment of every process of the tree
}

const (
	// endLimit is how long End tries.
	endLimit = 10 * time.Second
	// endLook is the pause between two looks. A program that is just being started
	// shows its environment within microseconds; two looks do not both miss it.
	endLook = 20 * time.Millisecond
)

// elsewhere answers for a tree of another machine, and for one of an earlier boot of
// this one.
func (r Remains) elsewhere() (proof Proof, elsewhere bool, err error) {
	proof = Proof{Level: ProofPolled, Left: []Process{}}
	if r.Supervisor.PID == 0 {
		return proof, false, nil
	}
	if r.Supervisor.Foreign() {
		proof.Level = ProofNone
		return proof, true, fmt.Errorf("the job ran on another machine (%s, supervisor pid %d): whether its processes have ended can only be seen there; resume the run there", r.Supervisor.Host, r.Supervisor.PID)
	}
	if boot := process.Boot(); boot != "" && r.Supervisor.Boot != "" && boot != r.Supervisor.Boot {
		proof.Gone = true
		return proof, true, nil
	}
	return proof, false, nil
}
