package supervise

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"orchestrate/internal/process"
)

// cgroup is a control group (version 2) of this supervisor's own, below the one it
// runs in. Its kill file ends a tree in one step, which no amount of forking
// escapes. It holds one job after another.
type cgroup struct {
	dir    string
	fd     int // of dir, to start programs in it
	events int // of cgroup.events
	killed bool
}

// openCgroup makes one; nil where that is not allowed or not possible, which is
// common and leaves the subreaper.
func openCgroup() *cgroup {
	parent := ownCgroup()
	if parent == "" {
		return nil
	}
	removeStale(parent)
	dir := filepath.Join(parent, fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), time.Now().UnixNano()))
	if err := unix.Mkdir(dir, 0o755); err != nil {
		return nil
	}
	c := &cgroup{dir: dir, fd: -1, events: -1}
	if !c.open() {
		c.close()
		return nil
	}
	return c
}

const groupPrefix = "orchestrate-"

// removeStale removes the empty groups of supervisors that were killed. Removing
// one that is in use by mistake (another pid namespace) costs that supervisor its
// group, no more.
func removeStale(parent string) {
	groups, err := filepath.Glob(filepath.Join(parent, groupPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range groups {
		name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if id, there := process.Of(pid); !there || id.Fate() == process.Gone {
			_ = unix.Rmdir(dir)
		}
	}
}

// Tidy removes the empty control groups that supervisors which were killed left beside
// this process.
func Tidy() {
	if parent := ownCgroup(); parent != "" {
		removeStale(parent)
	}
}

// open opens the descriptors that are used for every job. A kernel without
// cgroup.kill (before 5.14) makes the group useless here.
func (c *cgroup) open() bool {
	var err error
	if err = unix.Access(filepath.Join(c.dir, "cgroup.kill"), unix.W_OK); err != nil {
		return false
	}
	if c.fd, err = unix.Open(c.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return false
	}
	c.events, err = unix.Open(filepath.Join(c.dir, "cgroup.events"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	return err == nil
}

// kill kills everything in the group. An error shows in populated.
func (c *cgroup) kill() {
	c.killed = true
	_ = os.WriteFile(filepath.Join(c.dir, "cgroup.kill"), []byte("1"), 0)
}

// populated reports whether a process is in the group.
func (c *cgroup) populated() bool {
	var buf [128]byte
	n, err := unix.Pread(c.events, buf[:], 0)
	return err != nil || !bytes.Contains(buf[:max(n, 0)], []byte("populated 0"))
}

func (c *cgroup) close() {
	for _, fd := range []int{c.fd, c.events} {
		if fd >= 0 {
			closeFD(fd)
		}
	}
	_ = unix.Rmdir(c.dir) // refused only while something is in it
}

// ownCgroup is the folder of this process's cgroup in the mounted version 2
// hierarchy, "" if there is none.
func ownCgroup() string {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	return cgroupDir(string(own), string(mounts))
}

// cgroupDir finds the folder from the text of /proc/self/cgroup and mountinfo.
func cgroupDir(own, mounts string) string {
	var path string
	for line := range strings.Lines(own) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			path = rest
		}
	}
	for line := range strings.Lines(mounts) {
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if path == "" || !ok || !strings.HasPrefix(after, "cgroup2 ") || len(fields) < 5 {
			continue
		}
		root, point := strings.TrimSuffix(fields[3], "/"), fields[4]
		if below, ok := strings.CutPrefix(path, root); ok {
			return filepath.Join(point, below)
		}
	}
	return ""
}
