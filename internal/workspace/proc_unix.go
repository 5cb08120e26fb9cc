//go:build unix

package workspace

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps git out of the terminal's process group, so that Ctrl-C does
// not tear a capture; cancelling the context ends the whole group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// inherit gives the process its own copy of the descriptor, and so of the lock.
func inherit(cmd *exec.Cmd, f *os.File) { cmd.ExtraFiles = append(cmd.ExtraFiles, f) }
