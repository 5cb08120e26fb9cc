//go:build e2e && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// watched is what a watcher says on descriptor 3 once its program has ended.
type watched struct {
	Exit int
	Left []string // processes that outlived the program, and what they did not wait for
}

// watch runs a program in the place of the system's first process: whatever escapes
// from the program becomes a child of this one, is waited for as it ends, and is found
// here if it outlives the program. The finding goes to descriptor 3; what is left is
// killed.
func watch(argv []string) int {
	runtime.LockOSThread() // the death signal belongs to the thread that starts the program
	finding := os.NewFile(3, "finding")
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "watcher:", err)
		return 1
	}
	unix.CloseOnExec(3)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = without(os.Environ(), stageEnv)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	result := watched{}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "watcher:", err)
		return 1
	}
	pass := make(chan os.Signal, 3)
	signal.Notify(pass, os.Interrupt, syscall.SIGTERM)
	go func() {
		for sig := range pass {
			_ = cmd.Process.Signal(sig) // the program may have ended
		}
	}()
	var err error
	if result.Exit, err = reapUntil(cmd.Process.Pid); err != nil {
		fmt.Fprintln(os.Stderr, "watcher:", err)
		return 1
	}
	result.Left = endAll()
	if err := json.NewEncoder(finding).Encode(result); err != nil {
		fmt.Fprintln(os.Stderr, "watcher:", err)
		return 1
	}
	return 0
}

// reapUntil waits for every child as it ends until that with this pid has, and for
// those that have ended by then.
func reapUntil(pid int) (exit int, err error) {
	for options := 0; ; {
		var status unix.WaitStatus
		ended, err := unix.Wait4(-1, &status, options, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD) && options != 0, err == nil && ended == 0:
			return exit, nil
		case err != nil:
			return 0, err
		case ended == pid:
			exit, options = status.ExitStatus(), unix.WNOHANG
		}
	}
}

// endAll kills every process below this one and describes those it found at first.
func endAll() (left []string) {
	for i := 0; ; i++ {
		below := descendants(os.Getpid())
		if len(below) == 0 {
			return left
		}
		for _, pid := range below {
			if i == 0 {
				left = append(left, describe(pid))
			}
			_ = unix.Kill(pid, unix.SIGKILL) // it may have ended
		}
		_, _ = unix.Wait4(-1, nil, 0, nil) // one by one; who forks meanwhile is seen again
	}
}

func without(env []string, name string) (out []string) {
	for _, e := range env {
		if !strings.HasPrefix(e, name+"=") {
			out = append(out, e)
		}
	}
	return out
}

// descendants are the processes below pid, parents first.
func descendants(pid int) (out []int) {
	children := map[int][]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil { // only a malformed pattern
		panic(err)
	}
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(string(fields[1]))
		children[parent] = append(children[parent], child)
	}
	for queue := children[pid]; len(queue) > 0; queue = queue[1:] {
		out = append(out, queue[0])
		queue = append(queue, children[queue[0]]...)
	}
	return out
}

// describe names a process by pid, state and command line.
func describe(pid int) string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return fmt.Sprintf("%s: %s", strings.TrimSpace(string(stat)), bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
}
