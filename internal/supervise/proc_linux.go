package supervise

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// stat is what is needed of /proc/PID/stat.
type stat struct {
	parent int
	start  uint64 // clock ticks since boot
}

// readStat reads a process's parent and start time; ok is false when it is gone.
func readStat(pid int) (st stat, ok bool) {
	var path [32]byte
	name := append(strconv.AppendInt(append(path[:0], "/proc/"...), int64(pid), 10), "/stat"...)
	var buf [512]byte
	n, err := readSmall(string(name), buf[:])
	if err != nil {
		return st, false
	}
	return parseStat(buf[:n])
}

// parseStat parses what follows the command name, which may itself hold spaces
// and parentheses: state, parent, …, start time as the 20th field.
func parseStat(data []byte) (st stat, ok bool) {
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return st, false
	}
	field := 0
	for word := range bytes.FieldsSeq(data[end+1:]) {
		switch field {
		case 1:
			st.parent, _ = strconv.Atoi(string(word)) // the kernel writes numbers
		case 19:
			start, err := strconv.ParseUint(string(word), 10, 64)
			st.start = start
			return st, err == nil
		}
		field++
	}
	return st, false
}

// readSmall reads a file of /proc with three system calls.
func readSmall(path string, buf []byte) (int, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer closeFD(fd)
	return unix.Read(fd, buf)
}

// walk visits every process that descends from this one, parents first, until
// visit returns false. What appears meanwhile is found by the next walk.
func walk(visit func(Process) bool) {
	children := childrenOf
	if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children"); err != nil {
		children = scanParents() // a kernel without these lists
	}
	queue := []int{os.Getpid()}
	for len(queue) > 0 {
		parent := queue[0]
		queue = queue[1:]
		for _, pid := range children(parent) {
			st, ok := readStat(pid)
			if !ok || st.parent != parent {
				continue // gone, its pid may be a stranger's, or it has a new parent: see the next walk
			}
			if !visit(Process{PID: pid, StartTime: st.start}) {
				return
			}
			queue = append(queue, pid)
		}
	}
}

// childrenOf reads the kernel's lists of the children of each thread of a process.
func childrenOf(pid int) (pids []int) {
	base := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(base)
	if err != nil {
		return nil // it has ended
	}
	for _, thread := range threads {
		list, err := os.ReadFile(base + thread.Name() + "/children")
		if err != nil {
			continue
		}
		for word := range bytes.FieldsSeq(list) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// scanParents reads every process of the machine once and returns childrenOf's
// answer from that.
func scanParents() func(pid int) []int {
	byParent := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		entries = nil // without /proc nothing can be found; ECHILD still proves the end
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if st, ok := readStat(pid); ok {
			byParent[st.parent] = append(byParent[st.parent], pid)
		}
	}
	return func(pid int) []int { return byParent[pid] }
}
