//go:build linux

package cli_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"orchestrate/internal/failpoint"
	"orchestrate/internal/sandbox"
)

// hardships are programs that a script puts before another one, `forkless
// orchestrate run …`, so that this one has a bad day. None needs a privilege, and
// each binds root too.
var hardships = map[string]func(){
	"anyhow":   func() { leave(anyhow(os.Args[1:])) },
	"forkless": func() { leave(under(forkless, os.Args[1:])) },
	"limit":    func() { leave(limit(os.Args[1:])) },
	"ruled":    func() { leave(under(ruled, os.Args[1:])) },
	"small":    func() { leave(small(os.Args[1:])) },
	"typist":   func() { leave(typist(os.Args[1:])) },
}

// also is a map with the entries of another one.
func also[V any](m, more map[string]V) map[string]V {
	maps.Copy(m, more)
	return m
}

// anyhow runs a program, whatever status it ends with, and shows as alone does that
// it leaves no process behind.
func anyhow(args []string) int {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return complain("anyhow", err)
	}
	got, err := follow(exec.Command(args[0], args[1:]...))
	if err != nil {
		return complain("anyhow", err)
	}
	for {
		if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != nil || pid == 0 {
			break
		}
	}
	if left := children(); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "anyhow: left behind: %s\n", strings.Join(left, ", "))
		return stillThere
	}
	return got
}

// under becomes the program of args after something was done to this thread that
// the program inherits.
func under(what func() error, args []string) int {
	runtime.LockOSThread()
	if err := what(); err != nil {
		return complain("hardship", err)
	}
	return become(args)
}

func become(args []string) int {
	path, err := exec.LookPath(args[0])
	if err == nil {
		err = syscall.Exec(path, args, os.Environ())
	}
	return complain(args[0], err)
}

func complain(who string, err error) int {
	fmt.Fprintf(os.Stderr, "%s: %v\n", who, err)
	return 1
}

// ruled takes from root what lets it pass over the modes of files.
func ruled() error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, c := range []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER} {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return err
		}
	}
	return nil
}

// forkless makes every fork fail with EAGAIN, as at a limit of processes. Threads
// may start: without them the Go runtime ends a program by itself.
func forkless() error {
	const (
		number   = 0  // where struct seccomp_data has the system call's number
		argument = 16 // and the low half of its first argument
	)
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	answer := func(v uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v} }
	same := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	fork, vfork := uint32(57), uint32(58)
	if runtime.GOARCH != "amd64" { // others have only clone
		fork, vfork = 1<<31-1, 1<<31-1
	}
	filter := []unix.SockFilter{
		load(number),
		same(unix.SYS_CLONE3, 5, 0),
		same(fork, 5, 0),
		same(vfork, 4, 0),
		same(unix.SYS_CLONE, 0, 4),
		load(argument),
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.CLONE_THREAD, Jt: 2, Jf: 1},
		answer(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)),
		answer(unix.SECCOMP_RET_ERRNO | uint32(unix.EAGAIN)),
		answer(unix.SECCOMP_RET_ALLOW),
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}

// limit is `limit WHAT N PROGRAM…`, where WHAT is a number of descriptors (nofile)
// or the size a file may get, as on a disk that is full then (fsize), or `limit
// WHAT N -p PID` for a process that runs.
func limit(args []string) int {
	resource := map[string]int{"nofile": unix.RLIMIT_NOFILE, "fsize": unix.RLIMIT_FSIZE}[args[0]]
	n, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return complain("limit", err)
	}
	if args[2] == "-p" {
		pid, err := strconv.Atoi(args[3])
		if err == nil {
			err = lower(pid, resource, n, false)
		}
		if err != nil {
			return complain("limit", err)
		}
		return 0
	}
	path, err := exec.LookPath(args[2])
	if err != nil {
		return complain("limit", err)
	}
	if err := lower(0, resource, n, true); err != nil {
		return complain("limit", err)
	}
	return complain(path, syscall.Exec(path, args[2:], os.Environ()))
}

// lower sets a process's limit, for good or only until somebody lifts it.
func lower(pid, resource int, n uint64, forGood bool) error {
	var now unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &now); err != nil {
		return err
	}
	now.Cur = min(n, now.Max)
	if forGood {
		now.Max = now.Cur
	}
	return unix.Prlimit(pid, resource, &now, nil)
}

// small is `small BYTES DIR PROGRAM…`: the program finds on DIR a file system of
// its own, empty and with that much room, which ends with it.
func small(args []string) int {
	if args[0] == "-inside" {
		if err := unix.Mount("small", args[2], "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size="+args[1]); err != nil {
			return complain("small", err)
		}
		return become(args[3:])
	}
	cmd := inside(append([]string{"small", "-inside"}, args...))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signal.Ignore(os.Interrupt) // it is for the program
	if err := cmd.Run(); cmd.ProcessState == nil {
		return complain("small", err)
	}
	return cmd.ProcessState.ExitCode()
}

// inside is this program as another one of its names, where it may mount.
func inside(args []string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = args
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	return cmd
}

// condition says for a script what this machine has: [mounts], whether anybody may
// mount something in a namespace of their own.
func condition(name string) (bool, error) {
	if name == "faults" {
		return failpoint.Enabled, nil
	}
	if name == "landlock" {
		return sandbox.ABI() >= sandbox.MinABI, nil
	}
	if name != "mounts" {
		return false, fmt.Errorf("no condition %s", name)
	}
	dir, err := os.MkdirTemp("", "mounts")
	if err != nil {
		return false, err
	}
	err = inside([]string{"small", "-inside", "64k", dir, "true"}).Run()
	return err == nil, os.Remove(dir)
}
