//go:build linux

package campaign

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Proc is one process as it was when it was looked at.
type Proc struct {
	PID    int
	Parent int
	State  byte   // as in /proc: Z is dead, T is stopped
	Start  uint64 // clock ticks since boot: with PID it names the process
	Args   []string
}

// Supervisor reports whether it is one of a run's supervisors.
func (p Proc) Supervisor() bool {
	return len(p.Args) > 0 && filepath.Base(p.Args[0]) == "orchestrate-supervise"
}

func (p Proc) String() string {
	return fmt.Sprintf("%d %c %s", p.PID, p.State, strings.Join(p.Args, " "))
}

// Look finds a process that has not ended; a dead one that nobody has waited for
// has ended.
func Look(pid int) (Proc, bool) {
	p, ok := read(pid)
	return p, ok && p.State != 'Z'
}

func read(pid int) (Proc, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Proc{}, false
	}
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // a dead process has none
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return Proc{}, false
	}
	p := Proc{PID: pid, State: fields[0][0]}
	p.Parent, _ = strconv.Atoi(string(fields[1])) // the kernel writes numbers here
	p.Start, _ = strconv.ParseUint(string(fields[19]), 10, 64)
	if line = bytes.TrimRight(line, "\x00"); len(line) > 0 {
		p.Args = strings.Split(string(line), "\x00")
	}
	return p, true
}

// Below are the processes below pid that have not ended, parents first.
func Below(pid int) (all []Proc) {
	children := map[int][]Proc{}
	for _, p := range everybody() {
		children[p.Parent] = append(children[p.Parent], p)
	}
	for queue := children[pid]; len(queue) > 0; queue = queue[1:] {
		if queue[0].State != 'Z' {
			all = append(all, queue[0])
		}
		queue = append(queue, children[queue[0].PID]...)
	}
	return all
}

func everybody() (all []Proc) {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, d := range dirs {
		if pid, err := strconv.Atoi(d.Name()); err == nil {
			if p, ok := read(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// signal signals exactly this process, and says whether it was there.
func (p Proc) signal(sig unix.Signal) bool {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }() // it is only looked through
	if now, ok := Look(p.PID); !ok || now.Start != p.Start {
		return false
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0) == nil
}

// reap waits for dead children that were not started here but fell to this process
// when their parent died; mine are those that somebody waits for.
func reap(mine int) {
	for _, p := range everybody() {
		if p.State == 'Z' && p.Parent == os.Getpid() && p.PID != mine {
			for {
				if _, err := unix.Wait4(p.PID, nil, unix.WNOHANG, nil); !errors.Is(err, unix.EINTR) {
					break
				}
			}
		}
	}
}
