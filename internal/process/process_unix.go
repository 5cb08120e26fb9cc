//go:build linux || darwin

package process

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// absent says that no process has this pid: neither one that runs nor a zombie
// that hides from us.
func absent(pid int) bool {
	return zombie(pid) || errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

// signalChecked looks at the start time and signals: between the two the pid could
// in theory become another's.
func signalChecked(pid int, start uint64, sig unix.Signal) error {
	if now, alive := started(pid); !alive || now != start {
		return ErrGone
	}
	return signalled(pid, unix.Kill(pid, sig))
}

// signalled says what the answer to a signal means.
func signalled(pid int, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ESRCH):
		return ErrGone
	}
	return fmt.Errorf("signal process %d: %w", pid, err)
}
