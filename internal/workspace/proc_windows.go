package workspace

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps git from seeing the console's Ctrl-C.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// inherit does nothing: a lock of Windows belongs to the process that took it.
func inherit(*exec.Cmd, *os.File) {}
