//go:build linux && faults

package supervise_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrate/internal/failpoint"
	"orchestrate/internal/process"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/supervise"
)

// TestASupervisorDiesAtEveryMoment kills it at each of its failpoints: afterwards
// nothing of the program is left, and only a whole end is said to be one.
func TestASupervisorDiesAtEveryMoment(t *testing.T) {
	for _, role := range []string{"supervise", "plain"} {
		for _, name := range failpoint.Names {
			if strings.HasPrefix(name, "supervise.") {
				t.Run(role+" "+name, func(t *testing.T) { dieAt(t, role, name, nil) })
				t.Run(role+" "+name+" held", func(t *testing.T) { dieAt(t, role, name, &sandbox.Policy{}) })
			}
		}
	}
}

func dieAt(t *testing.T, role, name string, policy *sandbox.Policy) {
	dir := t.TempDir()
	t.Setenv("ORCHESTRATE_FAILPOINT", name)
	t.Setenv("ORCHESTRATE_FAILPOINT_DIR", dir)
	slot, err := supervise.Start(t.Context(), []string{supervisor(t)[0], role}, version)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "lock")
	ending := name == failpoint.SuperviseEnded || name == failpoint.SuperviseExitFile
	inv := doomed(t, file, ending, policy)
	mark := marked(t)
	inv.Env = append(inv.Env, mark)
	lock := lockFile(t)
	killed := make(chan []int)
	go func() { killed <- killAt(slot.PID(), filepath.Join(dir, name+"."+strconv.Itoa(slot.PID()))) }()
	if _, err := slot.Run(t.Context(), inv, []*os.File{lock}, nil); err == nil {
		t.Error("the supervisor died, and nobody said so")
	}
	pids := <-killed
	if pids == nil {
		t.Fatal("the failpoint was not reached")
	}
	slot.Close() // says that it was killed
	r := remainsOf(t, lock)
	r.Mark = mark
	if proof, err := supervise.End(t.Context(), r); err != nil || !proof.Gone {
		t.Errorf("%+v, %v", proof, err)
	}
	for _, pid := range pids {
		if st, ok := process.ReadStat(pid); ok && !st.Dead() {
			t.Errorf("process %d is left", pid)
		}
	}
	for waitAny() == nil {
		time.Sleep(time.Millisecond) // no other test runs meanwhile
	}
	_, err = os.Stat(filepath.Join(inv.Dir, "exit.json"))
	if there := err == nil; there != (name == failpoint.SuperviseExitFile) {
		t.Errorf("exit.json: %v", err)
	}
	for _, line := range lines(t, lock) {
		if line.Over {
			t.Error("the lock says that it is over")
		}
	}
}

// doomed is a job that takes the lock in file, and ends by itself or never.
func doomed(t *testing.T, file string, ends bool, policy *sandbox.Policy) supervise.Invocation {
	script := "echo up; exec sleep 600"
	if ends {
		script = "echo up"
	}
	inv := job(t, lockLine(file)+script)
	if inv.Sandbox = policy; policy != nil {
		policy.Write = []string{filepath.Dir(file)}
	}
	return inv
}

// waitAny reaps a child; ECHILD when there is none.
func waitAny() error {
	_, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
	return err
}

// killAt waits for a failpoint's file, and kills the supervisor that stopped there. It
// returns what descended from it, nil when the failpoint was not reached.
func killAt(supervisor int, file string) []int {
	defer syscall.Kill(supervisor, syscall.SIGKILL)
	for range 20_000 {
		if _, err := os.Stat(file); err == nil {
			return append(below(supervisor), supervisor)
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}
