//go:build !linux && !darwin

package process

import (
	"fmt"
	"runtime"
	"syscall"
)

// Boot is "": it is not known on this system.
func Boot() string { return "" }

// started is unknown on this system, also whether the process lives.
func started(int) (start uint64, alive bool) { return 0, false }

// absent is never certain on this system.
func absent(int) bool { return false }

// Signal is unavailable on this system.
func Signal(pid int, _ uint64, _ syscall.Signal) error {
	return fmt.Errorf("process %d is not signalled: that is unavailable on %s", pid, runtime.GOOS)
}
