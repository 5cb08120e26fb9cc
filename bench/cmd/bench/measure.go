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
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cost is what one command used, with everything that it started.
type cost struct {
	Wall    float64 // seconds
	CPU     float64 // seconds, user and system, of the whole tree
	RSS     float64 // MiB, of the largest process in the tree
	Exit    int
	Command part   // the command itself
	Orphans []part // what outlived its parent
	Engine  part   `json:"-"` // of a run: one of these
}

// part is one process of a tree, with all that it waited for itself.
type part struct {
	PID int
	CPU float64 // seconds
	Own float64 // the part of CPU that the process used itself, in steps of 10 ms
	RSS float64 // MiB, of the largest
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
	for {
		var status unix.WaitStatus
		p, err := reap(&status)
		if errors.Is(err, unix.ECHILD) {
			break
		}
		if err != nil {
			return c, err
		}
		if p.PID == root {
			c.Command, c.Exit = p, status.ExitStatus()
		} else {
			c.Orphans = append(c.Orphans, p)
		}
	}
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &use); err != nil {
		return c, err
	}
	c.CPU, c.RSS = seconds(use), mebibytes(use)
	return c, nil
}

// reap waits for one child, and looks at it while it is still there as a zombie.
func reap(status *unix.WaitStatus) (p part, err error) {
	var info unix.Siginfo
	if err := restarted(func() error { return unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT, nil) }); err != nil {
		return p, err
	}
	// si_pid follows three 32-bit fields and the padding of a union that is aligned
	// like a pointer.
	p.PID = int(*(*int32)(unsafe.Add(unsafe.Pointer(&info), 8+unsafe.Sizeof(uintptr(0)))))
	if p.Own, err = ownCPU(p.PID); err != nil {
		return p, err
	}
	var use unix.Rusage
	err = restarted(func() error { _, err := unix.Wait4(p.PID, status, 0, &use); return err })
	p.CPU, p.RSS = seconds(use), mebibytes(use)
	return p, err
}

// restarted calls again what a signal interrupted.
func restarted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func seconds(use unix.Rusage) float64   { return float64(use.Utime.Nano()+use.Stime.Nano()) / 1e9 }
func mebibytes(use unix.Rusage) float64 { return float64(use.Maxrss) / 1024 }

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
