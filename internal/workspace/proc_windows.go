package workspace

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps git from seeing the console's Ctrl-C.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
