package supervise

import (
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"orchestrate/internal/process"
)

const (
	receiveFlags = unix.MSG_DONTWAIT | unix.MSG_CMSG_CLOEXEC
	sendFlags    = unix.MSG_NOSIGNAL
)

// tree is the process tree of one job at a time. The supervisor is the subreaper
// of all that descends from it: whoever loses its parent, in whatever session,
// becomes the supervisor's child. So "no child is left" (ECHILD) proves that
// nothing is left, and everything can be found by walking down from here.
type tree struct {
	root   int // the program, 0 once reaped
	pidfd  int // readable when the program has ended, -1 = unknown or reaped
	status unix.WaitStatus
	done   bool // the program has ended and status is set
	cpu    time.Duration
	maxRSS int64
	seen   map[Process]bool

	group      *cgroup // nil where none can be made
	groupTried bool
	grouped    bool // this job is in group
}

func newTree(noCgroup bool) (*tree, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become the reaper of descendants: %w", err)
	}
	return &tree{pidfd: -1, groupTried: noCgroup}, nil
}

// keepDescriptors keeps what the engine inherited from its own caller (a lock, a
// pipe of make) from reaching programs. Kernels before 5.11 cannot; there it is
// only as good as that caller.
func keepDescriptors() {
	_ = unix.CloseRange(ControlFD+1, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
}

func pipe() (r, w int, err error) {
	var fds [2]int
	err = unix.Pipe2(fds[:], unix.O_CLOEXEC)
	return fds[0], fds[1], err
}

// widenPipe makes a busy pipe larger; a refusal (the user's quota) costs speed only.
func widenPipe(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, largePipe) }

// ready prepares for the next program and returns the folder of the cgroup that it
// will be in, "" if there is none.
func (t *tree) ready() string {
	if t.group != nil && t.group.killed {
		// Some kernels kill at birth what is started in a group that was
		// ever killed (seen on 6.18), so such a group is not used again.
		t.group.close()
		t.group, t.groupTried = nil, false
	}
	if !t.groupTried {
		t.groupTried, t.group = true, openCgroup()
	}
	*t = tree{pidfd: -1, group: t.group, groupTried: true, grouped: t.group != nil}
	if !t.grouped {
		return ""
	}
	return t.group.dir
}

// spawnAlone starts the program without the cgroup, which is given up if only that
// works.
func (t *tree) spawnAlone(c command, inv *Invocation) (Process, error) {
	t.grouped = false
	child, err := t.spawn(c, inv)
	if err == nil {
		t.group.close()
		t.group = nil
	}
	return child, err
}

// spawn starts the program in its own session, in the cgroup if there is one.
func (t *tree) spawn(c command, inv *Invocation) (Process, error) {
	sys := &syscall.SysProcAttr{Setsid: true, PidFD: &t.pidfd}
	if t.grouped {
		sys.UseCgroupFD, sys.CgroupFD = true, t.group.fd
	}
	pid, err := syscall.ForkExec(c.path, c.argv, &syscall.ProcAttr{
		Dir: inv.Cwd, Env: inv.Env, Sys: sys,
		Files: c.files,
	})
	if err != nil {
		return Process{}, err
	}
	t.root = pid
	child := Process{PID: pid}
	if st, ok := process.ReadStat(pid); ok {
		child.StartTime = st.Start
	}
	return child, nil
}

// childFD is readable when the program has ended; -1 when only asking tells.
func (t *tree) childFD() int { return t.pidfd }

// ended reports whether the program itself has ended.
func (t *tree) ended() bool { return t.done }

// signal signals the program, or all of its process group.
func (t *tree) signal(sig unix.Signal, group bool) {
	pid := t.root
	if pid == 0 {
		return // never signal 0, our own group
	}
	if group {
		pid = -pid
	}
	_ = unix.Kill(pid, sig) // unreaped, so the pid is its own; it may be a zombie
}

// alive reaps whatever has ended and reports whether anything is left. It asks who
// ended before it reaps exactly that pid.
func (t *tree) alive() bool {
	for {
		pid, err := endedChild()
		switch {
		case errors.Is(err, unix.ECHILD):
			return t.grouped && t.group.populated()
		case err != nil || pid == 0:
			return true
		}
		t.reap(pid)
	}
}

// endedChild is the pid of a child that waits to be reaped, 0 if none does.
func endedChild() (int, error) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return pidOf(&info), err
		}
	}
}

// pidOf reads si_pid, which follows three 32-bit fields and the padding of a union
// that is aligned like a pointer.
func pidOf(info *unix.Siginfo) int {
	const offset = 8 + unsafe.Sizeof(uintptr(0))
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(info), offset)))
}

func (t *tree) reap(pid int) {
	var status unix.WaitStatus
	var usage unix.Rusage
	got, err := unix.Wait4(pid, &status, unix.WNOHANG, &usage)
	if err != nil || got != pid {
		return // it is asked for again
	}
	t.cpu += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	t.maxRSS = max(t.maxRSS, int64(usage.Maxrss)*1024) //nolint:unconvert // 32 bits wide on some systems
	if pid == t.root {
		t.status, t.done, t.root = status, true, 0
		t.closePidfd()
	}
}

func (t *tree) closePidfd() {
	if t.pidfd >= 0 {
		closeFD(t.pidfd)
		t.pidfd = -1
	}
}

// sweep sends SIGKILL to everything that is there now.
func (t *tree) sweep() {
	if t.grouped {
		t.group.kill() // all at once, so that nothing can fork away
	}
	walk(func(p Process) bool {
		_ = process.Signal(p.PID, p.StartTime, unix.SIGKILL) // whether it worked is what alive asks
		return true
	})
}

// walk visits every descendant, parents first, until visit returns false.
func walk(visit func(Process) bool) {
	process.Descendants(func(pid int, st process.Stat) bool {
		return visit(Process{PID: pid, StartTime: st.Start})
	})
}

// scan shows the descendants that were not seen before.
func (t *tree) scan(visit func(Process)) {
	t.alive() // orphans that have ended are not kept as zombies for long
	walk(func(p Process) bool {
		if p.PID != t.root && !t.seen[p] {
			if t.seen == nil {
				t.seen = map[Process]bool{}
			}
			t.seen[p] = true
			visit(p)
		}
		return true
	})
}

// left lists what is still there, at most a hundred.
func (t *tree) left() (left []Process) {
	walk(func(p Process) bool {
		left = append(left, p)
		return len(left) < 100
	})
	return left
}

// level is the strongest proof that this job's end had.
func (t *tree) level() ProofLevel {
	if t.grouped {
		return ProofCgroup
	}
	return ProofSubreaper
}

// destroy ends the tree before the supervisor itself must end, or before it is used.
// It reports whether nothing is left.
func (t *tree) destroy() bool {
	for end := time.Now().Add(proofLimit); t.alive(); {
		if time.Now().After(end) {
			return false
		}
		t.sweep()
		_, _ = unix.Poll(nil, 1) // a pause; being woken early does no harm
	}
	return true
}

// close gives the cgroup back.
func (t *tree) close() {
	if t.group != nil {
		t.group.close()
	}
}

// describe fills in how the program ended and what it used.
func (t *tree) describe(exit *Exit) {
	exit.CPUMs, exit.MaxRSSBytes = t.cpu.Milliseconds(), t.maxRSS
	if t.done {
		exit.ended(t.status)
	}
	t.closePidfd()
}
