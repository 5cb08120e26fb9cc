//go:build unix

package script

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Start starts a child in a session of its own, as the tool shells of real agents
// do, and leaves it; it returns the child's pid. The lock is on an open file that
// only the child keeps: whoever can take it knows that the child is gone.
func (s Spawn) Start() (pid int, err error) {
	cmd := exec.Command("sleep", strconv.FormatFloat(s.Sleep.Seconds(), 'f', -1, 64))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if s.Lock != "" {
		f, err := os.OpenFile(s.Lock, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			return 0, fmt.Errorf("lock %s: %w", s.Lock, err)
		}
		cmd.ExtraFiles = []*os.File{f}
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	pid = cmd.Process.Pid
	return pid, cmd.Process.Release()
}
