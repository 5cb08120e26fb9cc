package process

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Boot is the id of this machine's boot, "" if it cannot be learned.
func Boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// started is the start time of the live process with this pid.
func started(pid int) (start uint64, alive bool) {
	st, ok := ReadStat(pid)
	return st.Start, ok && !st.Dead()
}

func zombie(pid int) bool {
	st, ok := ReadStat(pid)
	return ok && st.Dead()
}

// Signal signals exactly the process of this boot with that pid and start time:
// the handle is taken first and the process behind it looked at again, so that a
// reused pid is never hit. ErrGone when it has ended.
func Signal(pid int, start uint64, sig unix.Signal) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return ErrGone
	}
	if err != nil { // a kernel before 5.3, a sandbox that refuses the call, no descriptor left
		return signalChecked(pid, start, sig)
	}
	defer closeFD(fd)
	if now, alive := started(pid); !alive || now != start {
		return ErrGone
	}
	return signalled(pid, unix.PidfdSendSignal(fd, sig, nil, 0))
}
