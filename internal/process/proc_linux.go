package process

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Stat is what is needed of /proc/PID/stat.
type Stat struct {
	State   byte
	Parent  int
	Session int
	Threads int
	Start   uint64 // clock ticks since boot
}

// Dead reports whether it only waits to be reaped. A first thread that has ended
// before others of its process looks like a zombie and is none.
func (s Stat) Dead() bool { return (s.State == 'Z' || s.State == 'X') && s.Threads <= 1 }

// ReadStat reads what the kernel says of a process; ok is false when it is gone.
func ReadStat(pid int) (st Stat, ok bool) {
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
// and parentheses: state, parent, process group, session, …
func parseStat(data []byte) (st Stat, ok bool) {
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return st, false
	}
	field := 0
	for word := range bytes.FieldsSeq(data[end+1:]) {
		switch field {
		case 0:
			st.State = word[0]
		case 1:
			st.Parent, _ = strconv.Atoi(string(word)) // the kernel writes numbers
		case 3:
			st.Session, _ = strconv.Atoi(string(word))
		case 17:
			st.Threads, _ = strconv.Atoi(string(word))
		case 19:
			start, err := strconv.ParseUint(string(word), 10, 64)
			st.Start = start
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

// closeFD closes a descriptor that nothing was written through.
func closeFD(fd int) { _ = unix.Close(fd) }

// Each shows every process of the machine that can be seen.
func Each(visit func(pid int, st Stat)) error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue // not a process
		}
		if st, ok := ReadStat(pid); ok {
			visit(pid, st)
		}
	}
	return nil
}

// HasEnv reports whether a process was started with this entry (NAME=value) in its
// environment. Those of other users cannot be read and have it not.
func HasEnv(pid int, entry string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || entry == "" {
		return false
	}
	for one := range bytes.SplitSeq(env, []byte{0}) {
		if string(one) == entry {
			return true
		}
	}
	return false
}

// Descendants visits every process that descends from this one, parents first,
// until visit returns false. What appears meanwhile is found by the next call.
func Descendants(visit func(pid int, st Stat) bool) {
	own := os.Getpid()
	children := childrenOf
	if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(own) + "/children"); err != nil {
		children = scanParents() // a kernel without these lists
	}
	queue := []int{own}
	for len(queue) > 0 {
		parent := queue[0]
		queue = queue[1:]
		for _, pid := range children(parent) {
			st, ok := ReadStat(pid)
			if !ok || st.Parent != parent {
				continue // gone, its pid may be a stranger's, or it has a new parent: see the next call
			}
			if !visit(pid, st) {
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
	// Without /proc nothing can be found; ECHILD still proves the end.
	_ = Each(func(pid int, st Stat) { byParent[st.Parent] = append(byParent[st.Parent], pid) })
	return func(pid int) []int { return byParent[pid] }
}
