//go:build linux

package supervise_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrate/internal/process"
	"orchestrate/internal/supervise"
)

// said is what a supervisor says in the attempt's lock.
type said struct {
	Supervisor *process.Identity
	Cgroup     string
	Program    *process.Identity
	Over       bool
}

// lockFile is an attempt's lock as the engine hands it over.
func lockFile(t testing.TB) *os.File {
	t.Helper()
	lock, err := os.OpenFile(filepath.Join(t.TempDir(), "attempt.lock"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close() })
	return lock
}

// lines are what a lock says.
func lines(t testing.TB, lock *os.File) (all []said) {
	t.Helper()
	data, err := os.ReadFile(lock.Name())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var one said
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, one)
	}
	return all
}

// remainsOf is what a lock tells of a tree.
func remainsOf(t testing.TB, lock *os.File) (r supervise.Remains) {
	t.Helper()
	for _, line := range lines(t, lock) {
		if line.Supervisor != nil {
			r.Supervisor, r.Cgroup = *line.Supervisor, line.Cgroup
		}
		if line.Program != nil {
			r.Program = *line.Program
		}
	}
	return r
}

// orphans runs a script under a supervisor, kills the supervisor once all the sleeping
// processes that the script starts are there, and returns what the lock told. What is
// left over is reaped with the test, dead or alive.
func orphans(t *testing.T, program []string, mark, script string) supervise.Remains {
	t.Helper()
	slot, err := supervise.Start(t.Context(), program, version)
	if err != nil {
		t.Fatal(err)
	}
	inv := job(t, script)
	inv.Env = append(inv.Env, mark)
	lock := lockFile(t)
	_, err = slot.Run(t.Context(), inv, []*os.File{lock}, func(supervise.Process) {
		pids := asleep(t, slot.PID(), strings.Count(script, "sleep 600"))
		t.Cleanup(func() { reap(t, pids) })
		if err := syscall.Kill(slot.PID(), syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	})
	if err == nil {
		t.Fatal("the supervisor was killed and nobody said so")
	}
	if err := slot.Close(); err == nil {
		t.Error("the supervisor is said to have ended well")
	}
	r := remainsOf(t, lock)
	if r.Supervisor.PID != slot.PID() || r.Program.PID == 0 || r.Supervisor.Fate() != process.Gone {
		t.Fatalf("the lock told %+v", r)
	}
	r.Mark = mark
	return r
}

// asleep waits until so many of the processes that descend from one sleep, and
// returns all of them.
func asleep(t *testing.T, pid, want int) []int {
	t.Helper()
	for range 60_000 {
		all, n := below(pid), 0
		for _, one := range all {
			if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", one)); err == nil && string(name) == "sleep\n" {
				n++
			}
		}
		if n == want {
			return all
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("they do not all start")
	return nil
}

// below are all processes that descend from one.
func below(pid int) (all []int) {
	for _, word := range strings.Fields(childList(pid)) {
		child, err := strconv.Atoi(word)
		if err == nil {
			all = append(append(all, child), below(child)...)
		}
	}
	return all
}

// reap ends and reaps processes that have become children of the test.
func reap(t *testing.T, pids []int) {
	t.Helper()
	for range 10_000 {
		pids = slices.DeleteFunc(pids, func(pid int) bool {
			_ = syscall.Kill(pid, syscall.SIGKILL)               // mostly gone already
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // asked again below
			_, there := process.ReadStat(pid)
			return !there
		})
		if len(pids) == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("processes %v cannot be reaped", pids)
}

// marked is an environment entry that no other test has.
func marked(t *testing.T) string { return "MARK=" + t.TempDir() }

// stubborn is a tree in which some ignore the polite signal, left the session, have
// an empty environment, or all of it.
const stubborn = `setsid sleep 600 &
env -i sleep 600 &
env -i setsid sh -c 'trap "" TERM; sleep 600 & wait' &
(trap '' TERM INT; sleep 600) &
setsid sh -c 'env -i setsid sleep 600 & wait' &
wait`

func TestEndOfWhatADeadSupervisorLeft(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*supervise.Remains){
		"as recorded":            func(*supervise.Remains) {},
		"program not recorded":   func(r *supervise.Remains) { r.Program = process.Identity{} },
		"nothing has the mark":   func(r *supervise.Remains) { r.Mark = "" },
		"the mark is all":        func(r *supervise.Remains) { r.Program, r.Cgroup = process.Identity{}, "" },
		"cgroup of another name": func(r *supervise.Remains) { r.Cgroup = "/sys/fs/cgroup/other" },
	} {
		for _, role := range []string{"supervise", "plain"} {
			t.Run(name+", "+role, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "lock")
				r := orphans(t, []string{supervisor(t)[0], role}, marked(t), lockLine(file)+stubborn)
				level := supervise.ProofPolled
				if r.Cgroup != "" && !strings.Contains(name, "all") && !strings.Contains(name, "cgroup") {
					level = supervise.ProofCgroup
				}
				folder := r.Cgroup
				change(&r)
				proof, err := supervise.End(t.Context(), r)
				if err != nil || !proof.Gone || len(proof.Left) > 0 || proof.Level != level {
					t.Errorf("%+v, %v; want %s", proof, err, level)
				}
				checkFree(t, file)
				if _, err := os.Stat(folder); level == supervise.ProofCgroup && err == nil {
					t.Errorf("%s is still there", folder)
				}
				os.Remove(folder) // where the test kept End from it
			})
		}
	}
}

// The program may end after its supervisor, and something of it stay. What still has
// the mark shows which session was the program's, and so who else was in it.
func TestEndWhenTheProgramIsGone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "lock")
	script := lockLine(file) + "sleep 600 & env -i sleep 600 & wait"
	r := orphans(t, []string{supervisor(t)[0], "plain"}, marked(t), script)
	if err := r.Program.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	reap(t, []int{r.Program.PID})
	if proof, err := supervise.End(t.Context(), r); err != nil || !proof.Gone {
		t.Errorf("%+v, %v", proof, err)
	}
	checkFree(t, file)
}

// Where nothing but a number speaks for it, a process is neither touched nor passed
// over.
func TestEndLeavesWhatIsDoubtful(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := orphans(t, []string{supervisor(t)[0], "plain"}, marked(t), "env -i sleep 600 & echo $! >"+dir+"/pid; exec env -i sleep 600")
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	left, ok := process.Of(atoi(t, strings.TrimSpace(string(pid))))
	if !ok {
		t.Fatal("it is gone already")
	}
	if err := r.Program.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	reap(t, []int{r.Program.PID})
	ctx, cancel := context.WithTimeout(t.Context(), brief)
	defer cancel()
	proof, err := supervise.End(ctx, r)
	if err == nil || !strings.Contains(err.Error(), strconv.Itoa(left.PID)) || proof.Gone || len(proof.Left) != 1 || proof.Left[0].PID != left.PID {
		t.Errorf("%+v, %v", proof, err)
	}
	if left.Fate() != process.Alive {
		t.Error("it was ended on no more than a number")
	}
	r.Descendants = []supervise.Process{{PID: left.PID, StartTime: left.StartTime}}
	if proof, err := supervise.End(t.Context(), r); err != nil || !proof.Gone || left.Fate() != process.Gone {
		t.Errorf("once recorded: %+v, %v", proof, err)
	}
}

// stranger is a process that no run has to do with.
func stranger(t *testing.T) process.Identity {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	id, ok := process.Of(cmd.Process.Pid)
	if !ok {
		t.Fatal("it has not started")
	}
	return id
}

func TestEndTouchesNoStranger(t *testing.T) {
	t.Parallel()
	alive := stranger(t)
	reused := alive
	reused.StartTime--
	folder := filepath.Join(t.TempDir(), fmt.Sprintf("orchestrate-%d-1", reused.PID))
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]supervise.Remains{
		"the supervisor's pid":  {Supervisor: reused},
		"the program's pid":     {Supervisor: reused, Program: reused},
		"a descendant's pid":    {Supervisor: reused, Descendants: []supervise.Process{{PID: reused.PID, StartTime: reused.StartTime}}},
		"nothing recorded":      {},
		"a folder of no cgroup": {Supervisor: reused, Cgroup: folder},
		"an earlier boot": {
			Supervisor: process.Identity{PID: 1, StartTime: 1, Boot: "other", Host: alive.Host}, Program: alive,
			Descendants: []supervise.Process{{PID: alive.PID, StartTime: alive.StartTime}},
		},
	} {
		proof, err := supervise.End(t.Context(), r)
		if err != nil || !proof.Gone || proof.Left == nil {
			t.Errorf("%s: %+v, %v", name, proof, err)
		}
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) > 0 {
		t.Errorf("something was written into a folder that is no cgroup: %v, %v", files, err)
	}
	if alive.Fate() != process.Alive {
		t.Error("a stranger was ended")
	}
}

// Somebody has run a job's command again in a terminal of theirs: their shell is none
// of the tree's.
func TestEndSparesASessionOfSomebodyElse(t *testing.T) {
	t.Parallel()
	mark := marked(t)
	cmd := exec.Command("sh", "-c", mark+" sleep 600; read line")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	asleep(t, cmd.Process.Pid, 1)
	if proof, err := supervise.End(t.Context(), supervise.Remains{Mark: mark}); err != nil || !proof.Gone {
		t.Errorf("%+v, %v", proof, err)
	}
	if _, err := stdin.Write([]byte("\n")); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the shell of somebody else: %v", err)
	}
}

func TestEndOfAnotherMachinesTree(t *testing.T) {
	t.Parallel()
	id := process.Identity{PID: 1, StartTime: 1, Boot: "other", Host: "far-away"}
	proof, err := supervise.End(t.Context(), supervise.Remains{Supervisor: id, Program: id})
	if err == nil || !strings.Contains(err.Error(), "far-away") || proof.Gone {
		t.Errorf("%+v, %v", proof, err)
	}
}

func TestEndOfALiveSupervisorsTree(t *testing.T) {
	t.Parallel()
	alive := stranger(t)
	ctx, cancel := context.WithTimeout(t.Context(), brief)
	defer cancel()
	proof, err := supervise.End(ctx, supervise.Remains{Supervisor: alive, Program: alive})
	if err == nil || !strings.Contains(err.Error(), "may still be alive") || proof.Gone {
		t.Errorf("%+v, %v", proof, err)
	}
	if alive.Fate() != process.Alive {
		t.Error("its program was ended although it has an owner")
	}
}

// TestEndFromInsideTheTree has what calls End in the tree itself: it and what it
// descends from are spared.
func TestEndFromInsideTheTree(t *testing.T) {
	t.Parallel()
	mark := marked(t)
	file := filepath.Join(t.TempDir(), "lock")
	cmd := exec.Command("sh", "-c", `setsid sh -c '`+lockLine(file)+`echo; exec sleep 600' >`+file+`.up & while ! test -s `+file+`.up; do sleep 0.01; done; `+
		supervisor(t)[0]+` ender "$MARK"; echo went on; wait`)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=", mark, "MARKED=" + mark}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "true\nwent on\n" {
		t.Errorf("%s, %v", out, err)
	}
	checkFree(t, file)
}

// enderRole ends what carries the mark and says whether it is gone.
func enderRole([]string) int {
	proof, err := supervise.End(context.Background(), supervise.Remains{Mark: os.Getenv("MARKED")})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(proof.Gone)
	return 0
}
