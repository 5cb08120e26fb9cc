package supervise

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"orchestrate/internal/process"
)

// remainder is the search in /proc. Four things show that a process belongs to the
// tree: it was recorded, its environment has the mark, it is a child of one that
// belongs, or it is in the session of one that does. The last holds because a program
// is started in a session of its own, into which nobody comes from outside; see claim.
type remainder struct {
	Remains
	group    *cgroup // nil if none was recorded
	spared   map[int]bool
	sessions map[int]bool // of processes that belonged, in any look
}

func newSearch(r Remains) search {
	return &remainder{Remains: r, group: leftCgroup(r), spared: ancestors(), sessions: map[int]bool{}}
}

// leftCgroup is the recorded control group. Its name must be one that this supervisor
// gave, and its folder one of the cgroup file system: it is killed as a whole.
func leftCgroup(r Remains) *cgroup {
	name := fmt.Sprintf("%s%d-", groupPrefix, r.Supervisor.PID)
	if !filepath.IsAbs(r.Cgroup) || filepath.Clean(r.Cgroup) != r.Cgroup || !strings.HasPrefix(filepath.Base(r.Cgroup), name) {
		return nil
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(r.Cgroup), &fs); err != nil || fs.Type != unix.CGROUP2_SUPER_MAGIC {
		return nil
	}
	if own := ownCgroup(); own == r.Cgroup || strings.HasPrefix(own, r.Cgroup+"/") {
		return nil // it would be our own end
	}
	return &cgroup{dir: r.Cgroup, fd: -1, events: -1}
}

// ancestors are this process and all that it descends from: whatever they carry,
// they are not what is to be ended.
func ancestors() map[int]bool {
	all := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !all[pid]; {
		all[pid] = true
		st, ok := process.ReadStat(pid)
		if !ok {
			break
		}
		pid = st.Parent
	}
	return all
}

// maxRounds bounds the looks before what is stopped is killed. Three are usual.
const maxRounds = 50

// look ends the control group at once. Everything else is stopped first, until a look
// finds nothing new that runs: what is stopped cannot start another that is missed
// once its parent is gone.
func (r *remainder) look() (left []Process, found bool, err error) {
	populated := r.emptyGroup()
	stopped := map[Process]bool{}
	for fresh, round := true, 0; fresh && round < maxRounds; round++ {
		fresh = false
		if left, err = r.belonging(); err != nil {
			return nil, false, err
		}
		for _, p := range left {
			if !stopped[p] {
				stopped[p], fresh = true, true
				_ = process.Signal(p.PID, p.StartTime, unix.SIGSTOP) // whether it worked is what the next look tells
			}
		}
	}
	for _, p := range left {
		_ = process.Signal(p.PID, p.StartTime, unix.SIGKILL) // the same
	}
	doubtful, err := r.doubtful()
	left = append(left, doubtful...)
	return left, populated || len(left) > 0, err
}

// emptyGroup kills what is in the control group and reports whether anything was.
func (r *remainder) emptyGroup() (populated bool) {
	if r.group == nil {
		return false
	}
	events, err := os.ReadFile(filepath.Join(r.group.dir, "cgroup.events"))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return false // it is removed only when nothing is in it
	}
	if err == nil && strings.Contains(string(events), "populated 0") {
		return false
	}
	r.group.kill()
	return true
}

// belonging are the live processes that are shown to be of the tree.
func (r *remainder) belonging() (found []Process, err error) {
	all := map[int]process.Stat{}
	if err := process.Each(func(pid int, st process.Stat) {
		if !r.spared[pid] && !st.Dead() {
			all[pid] = st
		}
	}); err != nil {
		return nil, err
	}
	ours := map[int]bool{}
	for pid, st := range all {
		if r.known(pid, st) {
			ours[pid] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for pid := range ours {
			r.claim(all[pid].Session, all, ours)
		}
		for pid, st := range all {
			if !ours[pid] && (ours[st.Parent] || r.sessions[st.Session]) {
				ours[pid], grown = true, true
			}
		}
	}
	for pid := range ours {
		found = append(found, Process{PID: pid, StartTime: all[pid].Start})
	}
	slices.SortFunc(found, func(a, b Process) int { return a.PID - b.PID })
	return found, nil
}

// known reports whether a process was itself recorded, or carries the mark.
func (r *remainder) known(pid int, st process.Stat) bool {
	who := Process{PID: pid, StartTime: st.Start}
	switch {
	case who == Process{PID: r.Program.PID, StartTime: r.Program.StartTime}:
		return true
	case slices.Contains(r.Descendants, who):
		return true
	}
	return process.HasEnv(pid, r.Mark)
}

// claim takes a session in of which a member belongs to the tree. One whose leader
// lives and does not belong was not made by the tree: somebody has run a job's command
// again by hand, say. Nor is one taken in that we or those above us are in.
func (r *remainder) claim(session int, all map[int]process.Stat, ours map[int]bool) {
	_, led := all[session]
	if session > 0 && !r.sessions[session] && (!led || ours[session]) && !r.sparedSession(session) {
		r.sessions[session] = true
	}
}

func (r *remainder) sparedSession(session int) bool {
	for pid := range r.spared {
		if st, ok := process.ReadStat(pid); ok && st.Session == session {
			return true
		}
	}
	return false
}

// doubtful are processes in a session with the program's number whose leader is gone,
// while nothing shows that it is that program's session: the number may have been
// given again. They are left alone, and with them there is no proof.
func (r *remainder) doubtful() (left []Process, err error) {
	session := r.Program.PID
	if session <= 0 || r.sessions[session] || r.group != nil { // a control group holds all of its tree
		return nil, nil
	}
	if st, ok := process.ReadStat(session); ok {
		if r.Program.StartTime == 0 && !st.Dead() {
			left = []Process{{PID: session, StartTime: st.Start}} // nothing tells whether it is the program
		}
		return left, nil // its leader belongs elsewhere
	}
	err = process.Each(func(pid int, st process.Stat) {
		if st.Session == session && !st.Dead() && !r.spared[pid] && st.Start >= r.Program.StartTime {
			left = append(left, Process{PID: pid, StartTime: st.Start})
		}
	})
	return left, err
}

// level is that of the control group where the program was started in one.
func (r *remainder) level() ProofLevel {
	if r.group != nil {
		return ProofCgroup
	}
	return ProofPolled
}

// close removes the dead supervisor's control group, if it is empty.
func (r *remainder) close() {
	if r.group != nil {
		r.group.close()
	}
}
