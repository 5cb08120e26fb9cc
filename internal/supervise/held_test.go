//go:build linux

package supervise_test

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"orchestrate/internal/process"
	"orchestrate/internal/runtime"
	"orchestrate/internal/supervise"
)

func TestTheLockSaysWhoRuns(t *testing.T) {
	t.Parallel()
	slot := start(t)
	lock, other := lockFile(t), lockFile(t)
	fifo := filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	inv := job(t, "cat "+fifo+"; flock -n "+other.Name()+" true && echo free || echo held")
	var meanwhile []said
	exit, err := slot.Run(t.Context(), inv, []*os.File{lock, other}, func(p supervise.Process) {
		meanwhile = lines(t, lock)
		lock.Close()
		other.Close()
		if err := os.WriteFile(fifo, nil, 0o600); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	checkGone(t, slot, exit)
	if len(meanwhile) != 2 || meanwhile[0].Supervisor == nil || meanwhile[1].Program == nil {
		t.Fatalf("once the program runs the lock says %+v", meanwhile)
	}
	who, program := *meanwhile[0].Supervisor, *meanwhile[1].Program
	if of, ok := process.Of(slot.PID()); !ok || who != of {
		t.Errorf("the supervisor is %+v, and said to be %+v", of, who)
	}
	if program.PID != exit.PID || program.StartTime == 0 || program.Boot != who.Boot || program.Host != who.Host {
		t.Errorf("the program is said to be %+v", program)
	}
	if grouped := meanwhile[0].Cgroup != ""; grouped != (exit.Proof.Level == supervise.ProofCgroup) {
		t.Errorf("cgroup %q, proof %s", meanwhile[0].Cgroup, exit.Proof.Level)
	}
	if after := lines(t, lock); len(after) != 3 || !after[2].Over {
		t.Errorf("at the end the lock says %+v", after)
	}
	if len(lines(t, other)) > 0 || read(t, inv, "stdout.txt") != "held\n" {
		t.Error("a further lock is held while the program runs, and not written to")
	}
	awaitFree(t, lock.Name())
	awaitFree(t, other.Name())
}

// awaitFree waits until a lock is free that this process had as well: another test
// that starts a program has a copy of it until then.
func awaitFree(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Error(err)
	}
}

// A check runs under its attempt's lock, after the attempt's program.
func TestTheLockServesOneProgramAfterAnother(t *testing.T) {
	t.Parallel()
	slot := start(t)
	lock := lockFile(t)
	for range 2 {
		if _, err := slot.Run(t.Context(), job(t, "exit 0"), []*os.File{lock}, nil); err != nil {
			t.Fatal(err)
		}
	}
	var kinds strings.Builder
	for _, line := range lines(t, lock) {
		switch {
		case line.Supervisor != nil:
			kinds.WriteString("supervisor ")
		case line.Program != nil:
			kinds.WriteString("program ")
		case line.Over:
			kinds.WriteString("over ")
		}
	}
	if kinds.String() != "supervisor program over supervisor program over " {
		t.Error(kinds.String())
	}
}

func TestNothingStartsThatCannotBeRecorded(t *testing.T) {
	t.Parallel()
	slot := start(t)
	lock, err := os.Open(lockFile(t).Name()) // not for writing
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	inv := job(t, "echo ran")
	exit, err := slot.Run(t.Context(), inv, []*os.File{lock}, nil)
	if err != nil || !strings.Contains(exit.SpawnError, "lock") || exit.PID != 0 || read(t, inv, "stdout.txt") != "" {
		t.Errorf("%+v, %v", exit, err)
	}
	checkGone(t, slot, exit)
	checkExit(t, runIn(t, slot, job(t, "exit 0")), 0, supervise.StopNone)
}

func TestAProgramThatCannotStartIsOver(t *testing.T) {
	t.Parallel()
	slot := start(t)
	lock := lockFile(t)
	inv := job(t, "")
	inv.Argv = []string{"/no/such/program"}
	exit, err := slot.Run(t.Context(), inv, []*os.File{lock}, nil)
	if err != nil || exit.SpawnError == "" {
		t.Errorf("%+v, %v", exit, err)
	}
	if all := lines(t, lock); len(all) < 2 || all[0].Supervisor == nil || !all[len(all)-1].Over {
		t.Errorf("the lock says %+v", all)
	}
}

// Without exit.json the end of a tree is not over: whoever comes later looks again.
func TestNoEndIsSaidWithoutExitFile(t *testing.T) {
	t.Parallel()
	slot := start(t)
	lock := lockFile(t)
	inv := job(t, `mkdir "$DIR/exit.json"; exit 0`)
	inv.Env = append(inv.Env, "DIR="+inv.Dir)
	_, err := slot.Run(t.Context(), inv, []*os.File{lock}, nil)
	if err == nil || !strings.Contains(err.Error(), "exit.json") {
		t.Errorf("the engine must hear of it: %v", err)
	}
	if all := lines(t, lock); len(all) != 2 {
		t.Errorf("the lock says %+v", all)
	}
}

func TestTheStartIsOnDiskBeforeItIsReported(t *testing.T) {
	t.Parallel()
	inv := job(t, "exit 0")
	_, err := start(t).Run(t.Context(), inv, nil, func(p supervise.Process) {
		if list := find(events(t, inv.Dir), runtime.EventStarted); len(list) != 1 || list[0].PID != p.PID {
			t.Errorf("events: %+v", list)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheSecondSignalToASupervisorSkipsTheGrace(t *testing.T) {
	t.Parallel()
	slot := start(t)
	inv := job(t, "trap 'echo no >&2' TERM; echo up; while :; do sleep 0.05; done")
	inv.PoliteStop, inv.Grace, inv.Timeout = "TERM", time.Hour, 2*time.Hour
	exit, err := slot.Run(t.Context(), inv, nil, func(supervise.Process) {
		cancelOnceUp(inv, func() { syscall.Kill(slot.PID(), syscall.SIGTERM) })
		for read(t, inv, "stderr.txt") == "" { // it has been asked politely
			time.Sleep(time.Millisecond)
		}
		syscall.Kill(slot.PID(), syscall.SIGINT)
	})
	if err != nil {
		t.Fatal(err)
	}
	checkSignal(t, exit, "SIGKILL", supervise.StopCancelled)
	if !exit.Proof.Gone {
		t.Errorf("%+v", exit.Proof)
	}
}

func TestAClosedTerminalStopsNoSupervisor(t *testing.T) {
	t.Parallel()
	slot := start(t)
	fifo := filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	exit, err := slot.Run(t.Context(), job(t, "cat "+fifo), nil, func(supervise.Process) {
		syscall.Kill(slot.PID(), syscall.SIGHUP)
		if err := os.WriteFile(fifo, nil, 0o600); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	checkExit(t, exit, 0, supervise.StopNone)
}

// TestEngineDiesAtEveryByteOfTheFrame sends so much of an invocation and no more. Not
// even the last byte may be missing for something to start.
func TestEngineDiesAtEveryByteOfTheFrame(t *testing.T) {
	t.Parallel()
	inv := job(t, "")
	inv.Argv, inv.Env = []string{"/bin/true"}, []string{}
	size := len(runFrame(t, inv, 1))
	for n := range size + 1 {
		if n > 12 && n < size-12 && n%9 != 0 {
			continue // one byte of the middle is like the next; frames are read in any pieces
		}
		inv.Dir = t.TempDir()
		lock := lockFile(t)
		sendBytes(t, runFrame(t, inv, 1)[:n], lock)
		files, err := os.ReadDir(inv.Dir)
		if err != nil {
			t.Fatal(err)
		}
		all := lines(t, lock)
		if n == size {
			if len(files) != 4 || len(all) != 3 || !all[2].Over {
				t.Errorf("a whole frame: files %v, the lock says %+v", files, all)
			}
		} else if len(files) > 0 || len(all) > 0 {
			t.Errorf("after %d of %d bytes: files %v, the lock says %+v", n, size, files, all)
		}
		lock.Close()
		awaitFree(t, lock.Name())
	}
}

// A lock that did not arrive is not done without.
func TestALockIsMissing(t *testing.T) {
	t.Parallel()
	inv := job(t, "echo ran")
	sendBytes(t, runFrame(t, inv, 2), lockFile(t))
	if exit := read(t, inv, "exit.json"); !strings.Contains(exit, "1 of 2 locked files") {
		t.Error(exit)
	}
}

// runFrame is an invocation as the engine sends it.
func runFrame(t *testing.T, inv supervise.Invocation, locks int) []byte {
	t.Helper()
	body, err := json.Marshal(map[string]any{"kind": "run", "turn": 1, "locks": locks, "run": inv})
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// sendBytes is an engine that sends these bytes, a lock with the first of them, and
// dies. It returns when the supervisor has ended, which must be well.
func sendBytes(t *testing.T, data []byte, lock *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "engine"), os.NewFile(uintptr(fds[1]), "supervisor")
	defer ours.Close()
	cmd := exec.Command(supervisor(t)[0], "supervise")
	cmd.ExtraFiles = []*os.File{theirs}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	var hello [4]byte
	if _, err := io.ReadFull(ours, hello[:]); err != nil {
		t.Error(err)
	}
	if len(data) > 0 {
		if err := unix.Sendmsg(fds[0], data, unix.UnixRights(int(lock.Fd())), nil, 0); err != nil {
			t.Error(err)
		}
	}
	if err := unix.Shutdown(fds[0], unix.SHUT_WR); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after %d bytes: %v", len(data), err)
	}
}
