//go:build linux

package process

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sleeper starts a process and returns who it is; it is ended with the test.
func sleeper(t *testing.T, command ...string) (*exec.Cmd, Identity) {
	t.Helper()
	if len(command) == 0 {
		command = []string{"sleep", "600"}
	}
	cmd := exec.Command(command[0], command[1:]...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended in the test
		_ = cmd.Wait()         // how it ended is the test's matter
	})
	id, ok := Of(cmd.Process.Pid)
	if !ok {
		t.Fatalf("process %d was started and is not seen", cmd.Process.Pid)
	}
	return cmd, id
}

func TestSelfIsAlive(t *testing.T) {
	id := Self()
	if id.PID != os.Getpid() || id.StartTime == 0 || id.Boot == "" || id.Host == "" || id.Fate() != Alive {
		t.Errorf("%+v is %s", id, id.Fate())
	}
	if of, ok := Of(os.Getpid()); !ok || of != id {
		t.Errorf("%+v, %v", of, ok)
	}
}

func TestFates(t *testing.T) {
	_, id := sleeper(t)
	for name, c := range map[string]struct {
		change func(*Identity)
		want   Fate
	}{
		"as it is":                   {func(*Identity) {}, Alive},
		"another start time":         {func(i *Identity) { i.StartTime++ }, Gone},
		"no start time":              {func(i *Identity) { i.StartTime = 0 }, Unknown},
		"no start time, nobody":      {func(i *Identity) { i.StartTime, i.PID = 0, 1<<30 }, Gone},
		"a pid that nobody has":      {func(i *Identity) { i.PID = 1 << 30 }, Gone},
		"no pid":                     {func(i *Identity) { i.PID = 0 }, Unknown},
		"another boot":               {func(i *Identity) { i.Boot = "other" }, Gone},
		"another machine":            {func(i *Identity) { i.Boot, i.Host = "other", "other" }, Unknown},
		"the machine has a new name": {func(i *Identity) { i.Host = "other" }, Alive},
		"boot unknown":               {func(i *Identity) { i.Boot = "" }, Alive},
		"boot and machine unknown":   {func(i *Identity) { i.Boot, i.Host = "", "" }, Unknown},
	} {
		changed := id
		c.change(&changed)
		if got := changed.Fate(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestAZombieIsGone(t *testing.T) {
	cmd, id := sleeper(t)
	if err := id.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return id.Fate() == Gone })
	if _, ok := ReadStat(cmd.Process.Pid); !ok {
		t.Error("it was not a zombie: the test shows nothing")
	}
	if err := id.Signal(os.Kill); !errors.Is(err, ErrGone) {
		t.Errorf("a signal to a zombie: %v", err)
	}
	if _, ok := Of(cmd.Process.Pid); ok {
		t.Error("a zombie has no identity")
	}
}

// waitFor looks until it is so, for a minute at most.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	for range 60_000 {
		if so() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("waited in vain")
}

func TestSignalHitsNoStranger(t *testing.T) {
	_, id := sleeper(t)
	other := id
	other.StartTime--
	if err := other.Signal(os.Kill); !errors.Is(err, ErrGone) {
		t.Errorf("another start time: %v", err)
	}
	if err := Signal(id.PID, other.StartTime, syscall.SIGKILL); !errors.Is(err, ErrGone) {
		t.Errorf("another start time: %v", err)
	}
	if err := signalChecked(id.PID, other.StartTime, syscall.SIGKILL); !errors.Is(err, ErrGone) {
		t.Errorf("another start time without a handle: %v", err)
	}
	other.StartTime = 0
	if err := other.Signal(os.Kill); err == nil || !strings.Contains(err.Error(), "cannot be told") {
		t.Errorf("no start time: %v", err)
	}
	if id.Fate() != Alive {
		t.Fatal("a process was hit that was not meant")
	}
	if err := signalChecked(id.PID, id.StartTime, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	waitFor(t, func() bool { return id.Fate() == Gone })
}

func TestParseStat(t *testing.T) {
	const rest = " 55 44 0 -1 4194560 7 0 0 0 1 2 0 0 20 0 3 0 987654 18 19"
	for _, name := range []string{"sleep", "a b", ") R 1 (", "", "é\n)"} {
		got, ok := parseStat([]byte("12 (" + name + ") S 99" + rest))
		if want := (Stat{State: 'S', Parent: 99, Session: 44, Threads: 3, Start: 987654}); !ok || got != want {
			t.Errorf("command %q: %+v, %v", name, got, ok)
		}
	}
	for _, torn := range []string{"", "12", "12 (sleep", "12 (sleep) S 99 1"} {
		if _, ok := parseStat([]byte(torn)); ok {
			t.Errorf("%q was taken for whole", torn)
		}
	}
}

func TestHasEnv(t *testing.T) {
	cmd, _ := sleeper(t, "env", "MARK=a 1", "OTHER=x", "sleep", "600")
	waitFor(t, func() bool { return HasEnv(cmd.Process.Pid, "MARK=a 1") })
	for _, no := range []string{"MARK=a", "MARK=a 12", "MARK", ""} {
		if HasEnv(cmd.Process.Pid, no) {
			t.Errorf("%q was found", no)
		}
	}
}

func TestDescendantsWithAndWithoutTheKernelsLists(t *testing.T) {
	cmd, _ := sleeper(t, "sh", "-c", "sleep 600 & wait")
	find := func(children func(int) []int) (grandchild int) {
		for _, pid := range children(cmd.Process.Pid) {
			grandchild = pid
		}
		return grandchild
	}
	waitFor(t, func() bool { return find(childrenOf) != 0 })
	want := find(childrenOf)
	t.Cleanup(func() { _ = syscall.Kill(want, syscall.SIGKILL) }) // its parent does not end it
	if got := find(scanParents()); got != want {
		t.Errorf("the scan found %d, the lists %d", got, want)
	}
	var seen []int
	Descendants(func(pid int, _ Stat) bool { seen = append(seen, pid); return pid != cmd.Process.Pid })
	if len(seen) == 0 || seen[len(seen)-1] != cmd.Process.Pid {
		t.Errorf("visited %v, and not the child last, though told to end there", seen)
	}
}
