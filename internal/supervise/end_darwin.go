package supervise

import (
	"errors"

	"golang.org/x/sys/unix"

	"orchestrate/internal/process"
)

// remainder is the search by what was recorded: the program, its process group and
// the descendants. What left the group unrecorded is not found here.
type remainder struct {
	Remains
	ours bool // the group has been seen to be the program's
}

func newSearch(r Remains) search { return &remainder{Remains: r} }

// look ends what it finds. A group without its leader may be another's that got the
// same number: it is left alone, and with it there is no proof.
func (r *remainder) look() (left []Process, found bool, err error) {
	for _, p := range append([]Process{{PID: r.Program.PID, StartTime: r.Program.StartTime}}, r.Descendants...) {
		if now, ok := process.Of(p.PID); p.PID > 0 && ok && now.StartTime == p.StartTime {
			r.ours = r.ours || p.PID == r.Program.PID
			left = append(left, p)
			_ = process.Signal(p.PID, p.StartTime, unix.SIGKILL) // whether it worked is what the next look tells
		}
	}
	if group := r.Program.PID; group > 0 && !errors.Is(unix.Kill(-group, 0), unix.ESRCH) {
		if _, led := process.Of(group); r.ours {
			_ = unix.Kill(-group, unix.SIGKILL) // the same
		} else if led {
			return left, len(left) > 0, nil // another's
		}
		left = append(left, Process{PID: group})
	}
	return left, len(left) > 0, nil
}

// level is polled: nothing better is to be had here.
func (r *remainder) level() ProofLevel { return ProofPolled }

// close has nothing to give back.
func (r *remainder) close() {}
