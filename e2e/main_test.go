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

// stageEnv says what this process is: the outermost (unset), the first program in
// a network of its own, the tests there, or the watcher of one run's processes.
const (
	stageEnv     = "ORCHESTRATE_E2E_STAGE"
	stageNetwork = "network"
	stageTests   = "tests"
	stageWatcher = "watcher"
)

func TestMain(m *testing.M) {
	switch os.Getenv(stageEnv) {
	case stageWatcher:
		os.Exit(watch(os.Args[1:]))
	case stageNetwork:
		fmt.Fprintln(os.Stderr, "e2e: the loopback of the tests' network:", becomeTests())
		os.Exit(1)
	case stageTests:
		os.Exit(m.Run())
	default:
		os.Exit(enterOwnNetwork())
	}
}

// enterOwnNetwork runs this program again in a network namespace of its own, so
// that nothing but the simulator can be reached. Who is not root gets a user
// namespace around it, with the same user, and the one right to set up the network.
func enterOwnNetwork() int {
	runtime.LockOSThread() // the death signal belongs to the thread that starts the program
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), stageEnv+"="+stageNetwork)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN}
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

// becomeTests brings the loopback up and replaces this program by the tests, which
// have no right left that they would not have outside.
func becomeTests() error {
	runtime.LockOSThread() // rights belong to threads
	if err := loopbackUp(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	env := append(without(os.Environ(), stageEnv), stageEnv+"="+stageTests)
	return syscall.Exec("/proc/self/exe", os.Args, env)
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
