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

// spawn starts a child in a session of its own, as the tool shells of real agents
// do, and leaves it. The lock is on an open file that only the child keeps: whoever
// can take it knows that the child is gone.
func (p *player) spawn(s Spawn) error {
	cmd := exec.Command("sleep", strconv.FormatFloat(s.Sleep.Seconds(), 'f', -1, 64))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if s.Lock != "" {
		f, err := os.OpenFile(p.path(s.Lock), os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			return fmt.Errorf("lock %s: %w", s.Lock, err)
		}
		cmd.ExtraFiles = []*os.File{f}
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	if err := cmd.Process.Release(); err != nil {
		return err
	}
	return p.used("Bash", fmt.Sprintf("spawned process %d", pid), nil)
}
