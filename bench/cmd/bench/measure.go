//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cost is what one command used, with everything that it started.
type cost struct {
	Wall float64 // seconds
	CPU  float64 // seconds, user and system, of the whole tree
	Self float64 // the part of CPU that the command's own process used, in steps of 10 ms
	RSS  float64 // MiB, of the largest process in the tree
	Exit int
}

// measure runs argv in dir and waits for its whole tree. It does so in a fresh
// process of this program, so that the cost of the tree is exactly what that
// process has reaped, and what this one has allocated does not count.
func measure(self, dir string, env, argv []string) (cost, error) {
	cmd := exec.Command(self, append([]string{"measure", "--"}, argv...)...)
	cmd.Dir, cmd.Env = dir, env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("%q in %s: %w\n%s", argv, dir, err, errs.Bytes())
	}
	var c cost
	if err := json.Unmarshal(out.Bytes(), &c); err != nil {
		return cost{}, fmt.Errorf("%q: %w", argv, err)
	}
	return c, nil
}

// measureMain is the other side: it is the subreaper of the command's tree, so
// that a process which outlives its parent is waited for and counted as well.
func measureMain(args []string) error {
	if len(args) < 2 || args[0] != "--" {
		return errors.New("measure -- COMMAND…")
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	path, err := exec.LookPath(args[1])
	if err != nil {
		return err
	}
	began := time.Now()
	p, err := os.StartProcess(path, args[1:], &os.ProcAttr{Files: []*os.File{null, null, os.Stderr}})
	if err != nil {
		return err
	}
	c, err := reapAll(p.Pid)
	if err != nil {
		return err
	}
	c.Wall = time.Since(began).Seconds()
	return json.NewEncoder(os.Stdout).Encode(c)
}

// reapAll waits for the command and for all that it leaves behind.
func reapAll(root int) (c cost, err error) {
	if err := unix.Waitid(unix.P_PID, root, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		return c, err
	}
	if c.Self, err = ownCPU(root); err != nil { // it is still there as a zombie
		return c, err
	}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		if errors.Is(err, unix.ECHILD) {
			break
		}
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return c, err
		}
		if pid == root {
			c.Exit = status.ExitStatus()
		}
	}
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &use); err != nil {
		return c, err
	}
	c.CPU = float64(use.Utime.Nano()+use.Stime.Nano()) / 1e9
	c.RSS = float64(use.Maxrss) / 1024
	return c, nil
}

// ownCPU is the time that one process used itself, without its children.
func ownCPU(pid int) (seconds float64, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat is too short", pid)
	}
	for _, f := range fields[11:13] { // utime, stime
		ticks, err := strconv.Atoi(string(f))
		if err != nil {
			return 0, err
		}
		seconds += float64(ticks) / 100
	}
	return seconds, nil
}
