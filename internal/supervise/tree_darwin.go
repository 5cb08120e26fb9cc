package supervise

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"orchestrate/internal/process"
)

const (
	receiveFlags = unix.MSG_DONTWAIT
	sendFlags    = 0
)

// tree is the process group of one job at a time. There is no subreaper here: a
// descendant that leaves the group is not found, and the proof is only that the
// group is empty when asked (polled).
type tree struct {
	group int // process group of the program, 0 = none
	// grouped is never true: there are no cgroups here.
	grouped bool
	status  unix.WaitStatus
	done    bool
	cpu     time.Duration
	maxRSS  int64
}

func newTree(bool) (*tree, error) { return &tree{}, nil }

// keepDescriptors does nothing: there is no call for it here.
func keepDescriptors() {}

func pipe() (r, w int, err error) {
	var fds [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err = unix.Pipe(fds[:]); err != nil {
		return -1, -1, err
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	return fds[0], fds[1], nil
}

// widenPipe does nothing: pipes grow by themselves here.
func widenPipe(int) {}

// ready prepares for the next program, which will be in no cgroup.
func (t *tree) ready() string {
	*t = tree{}
	return ""
}

// spawnAlone starts the program without a cgroup, as spawn does here.
func (t *tree) spawnAlone(c command, inv *Invocation) (Process, error) {
	return t.spawn(c, inv)
}

// spawn starts the program in its own session.
func (t *tree) spawn(c command, inv *Invocation) (Process, error) {
	pid, err := syscall.ForkExec(c.path, c.argv, &syscall.ProcAttr{
		Dir: inv.Cwd, Env: inv.Env, Sys: &syscall.SysProcAttr{Setsid: true},
		Files: c.files,
	})
	if err != nil {
		return Process{}, err
	}
	t.group = pid
	child, _ := process.Of(pid) // its start time is 0 if it has ended already
	return Process{PID: pid, StartTime: child.StartTime}, nil
}

// childFD is -1: the end of the program is asked for.
func (t *tree) childFD() int { return -1 }

// ended reports whether the program itself has ended.
func (t *tree) ended() bool { return t.done }

// signal signals the program, or all of its process group.
func (t *tree) signal(sig unix.Signal, group bool) {
	pid := t.group
	if pid == 0 || (t.done && !group) {
		return
	}
	if group {
		pid = -pid
	}
	_ = unix.Kill(pid, sig) // whether it worked is what alive asks
}

// alive reaps the program and reports whether its group still has a member.
func (t *tree) alive() bool {
	if !t.done {
		var usage unix.Rusage
		got, err := unix.Wait4(t.group, &t.status, unix.WNOHANG, &usage)
		if err != nil || got != t.group {
			return true
		}
		t.done = true
		t.cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		t.maxRSS = usage.Maxrss
	}
	return !errors.Is(unix.Kill(-t.group, 0), unix.ESRCH)
}

// sweep sends SIGKILL to the group.
func (t *tree) sweep() { t.signal(unix.SIGKILL, true) }

// scan finds nothing: descendants are not listed here.
func (t *tree) scan(func(Process)) {}

// left names the group by its leader.
func (t *tree) left() []Process { return []Process{{PID: t.group}} }

// level is the proof that this job's end had.
func (t *tree) level() ProofLevel { return ProofPolled }

// destroy ends the tree before the supervisor itself must end, or before it is used.
// It reports whether nothing is left.
func (t *tree) destroy() bool {
	for end := time.Now().Add(proofLimit); t.group != 0 && t.alive(); {
		if time.Now().After(end) {
			return false
		}
		t.sweep()
		_, _ = unix.Poll(nil, 1) // a pause; being woken early does no harm
	}
	return true
}

// close has nothing to give back.
func (t *tree) close() {}

// describe fills in how the program ended and what it used.
func (t *tree) describe(exit *Exit) {
	exit.CPUMs, exit.MaxRSSBytes = t.cpu.Milliseconds(), t.maxRSS
	if t.done {
		exit.ended(t.status)
	}
}
