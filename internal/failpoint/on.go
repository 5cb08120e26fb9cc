//go:build faults && linux

package failpoint

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Enabled says whether this build has failpoints.
const Enabled = true

// The variables that choose a failpoint: its name, a colon and which hit of this
// process counts (from 1; 1 if left out), and the folder in which it says that it
// was reached.
const (
	nameVar = "ORCHESTRATE_FAILPOINT"
	dirVar  = "ORCHESTRATE_FAILPOINT_DIR"
)

var hits atomic.Int64

// Hit stops this process, all of its threads, at the chosen failpoint, after a file
// in the folder says so: whoever chose it decides who dies and who goes on (SIGCONT).
func Hit(name string) {
	want, nth, _ := strings.Cut(os.Getenv(nameVar), ":")
	if want != name {
		return
	}
	n, err := strconv.ParseInt(nth, 10, 64)
	if err != nil {
		n = 1
	}
	if hits.Add(1) != n {
		return
	}
	report(name)
	// To this thread and not to the process, of which another thread could get the
	// signal while this one goes on.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP) // cannot fail for oneself
}

// report puts the file in place whole.
func report(name string) {
	dir := os.Getenv(dirVar)
	data, err := json.Marshal(map[string]any{"name": name, "pid": os.Getpid()})
	if err != nil || dir == "" {
		return
	}
	temp := filepath.Join(dir, "."+strconv.Itoa(os.Getpid()))
	if os.WriteFile(temp, data, 0o600) == nil {
		_ = os.Rename(temp, filepath.Join(dir, name+"."+strconv.Itoa(os.Getpid()))) // who waits for it has a limit
	}
}

// Env is what a program of ours that starts with an empty environment must get so
// that its failpoints work.
func Env() []string {
	return []string{nameVar + "=" + os.Getenv(nameVar), dirVar + "=" + os.Getenv(dirVar)}
}
