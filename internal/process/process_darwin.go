package process

import "golang.org/x/sys/unix"

// zombieState is SZOMB of sys/proc.h.
const zombieState = 5

// Boot is the id of this machine's boot, "" if it cannot be learned. The time of
// the boot would not do: it moves when the clock is set.
func Boot() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

// started is the start time of the live process with this pid.
func started(pid int) (start uint64, alive bool) {
	start, state, ok := look(pid)
	return start, ok && state != zombieState
}

func zombie(pid int) bool {
	_, state, ok := look(pid)
	return ok && state == zombieState
}

func look(pid int) (start uint64, state int8, ok bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, 0, false
	}
	at := info.Proc.P_starttime
	return uint64(at.Sec)*1e6 + uint64(at.Usec), info.Proc.P_stat, true
}

// Signal signals exactly the process of this boot with that pid and start time,
// as well as that can be done without handles. ErrGone when it has ended.
func Signal(pid int, start uint64, sig unix.Signal) error { return signalChecked(pid, start, sig) }
