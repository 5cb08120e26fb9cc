//go:build e2e && linux

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// stageEnv says what this process is: the outermost (unset), the tests inside
// their own network, or the watcher of one run's processes.
const (
	stageEnv     = "ORCHESTRATE_E2E_STAGE"
	stageTests   = "tests"
	stageWatcher = "watcher"
)

func TestMain(m *testing.M) {
	switch os.Getenv(stageEnv) {
	case stageWatcher:
		os.Exit(watch(os.Args[1:]))
	case stageTests:
		if err := loopbackUp(); err != nil {
			fmt.Fprintln(os.Stderr, "e2e: the loopback of the tests' network:", err)
			os.Exit(1)
		}
		os.Exit(m.Run())
	default:
		os.Exit(enterOwnNetwork())
	}
}

// enterOwnNetwork runs this program again in a network namespace of its own, so
// that nothing but the simulator can be reached.
func enterOwnNetwork() int {
	runtime.LockOSThread() // the death signal belongs to the thread that starts the program
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), stageEnv+"="+stageTests)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	}
	fmt.Fprintf(os.Stderr, "e2e: these tests need a network of their own (root, or user namespaces allowed for everyone): %v\n", err)
	return 1
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}
