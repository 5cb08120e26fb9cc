package engine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// occupant is a process and the folder that it works in.
type occupant struct {
	pid int
	dir string
}

// program is the name of what it runs, "" = it has ended.
func (o occupant) program() string {
	name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(o.pid), "comm"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}

// occupants are the processes that can be seen. Those of other accounts do not say where
// they work.
func occupants() (all []occupant) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil // it is not mounted: nothing can be told
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if dir, err := os.Readlink(filepath.Join("/proc", e.Name(), "cwd")); err == nil {
			all = append(all, occupant{pid, dir})
		}
	}
	return all
}
