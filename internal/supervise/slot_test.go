//go:build linux

package supervise_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/supervise"
	"orchestrate/internal/untrusted"
)

// job is an invocation of a shell script with generous limits, in folders of its own.
func job(t testing.TB, script string) supervise.Invocation {
	t.Helper()
	return supervise.Invocation{
		Job: "job", Attempt: 1, Dir: t.TempDir(), Cwd: t.TempDir(),
		Argv: []string{"sh", "-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")},
		Timeout: time.Minute, Grace: 5 * time.Second, MaxBytes: 1 << 20,
	}
}

func start(t testing.TB) *supervise.Slot { return startProgram(t, supervisor(t)) }

func startProgram(t testing.TB, program []string) *supervise.Slot {
	t.Helper()
	slot, err := supervise.Start(t.Context(), program, version)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := slot.Close(); err != nil {
			t.Error(err)
		}
	})
	return slot
}

// run runs one job in a slot of its own and checks what must hold for every job.
func run(t testing.TB, inv supervise.Invocation) supervise.Exit {
	t.Helper()
	return runIn(t, start(t), inv)
}

func runIn(t testing.TB, slot *supervise.Slot, inv supervise.Invocation) supervise.Exit {
	t.Helper()
	exit, err := slot.Run(context.Background(), inv, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkGone(t, slot, exit)
	return exit
}

func checkGone(t testing.TB, slot *supervise.Slot, exit supervise.Exit) {
	t.Helper()
	if !exit.Proof.Gone || len(exit.Proof.Left) > 0 || !slot.Idle() {
		t.Errorf("the tree is not proven gone: %+v, idle %v", exit.Proof, slot.Idle())
	}
}

// lockLine makes a script hold a lock in file for as long as it or any of its
// descendants lives.
func lockLine(file string) string { return "exec 9>>" + file + "; flock -n 9; " }

// checkFree takes the lock that a job's processes held, which works only when all
// of them are gone.
func checkFree(t testing.TB, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatalf("the job never took its lock: %v", err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Errorf("a process of the job is still alive: its lock is held (%v)", err)
	}
}

func read(t testing.TB, inv supervise.Invocation, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(inv.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func events(t testing.TB, dir string) (list []runtime.Event) {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e runtime.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		if e.Seq != int64(len(list)+1) || e.At.IsZero() {
			t.Errorf("event %d has number %d and time %v", len(list)+1, e.Seq, e.At)
		}
		list = append(list, e)
	}
	return list
}

func find(list []runtime.Event, kind runtime.EventKind) (found []runtime.Event) {
	for _, e := range list {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

func checkExit(t testing.TB, exit supervise.Exit, code int, stop supervise.Stop) {
	t.Helper()
	if exit.ExitCode == nil || *exit.ExitCode != code || exit.Signal != "" || exit.Stop != stop {
		t.Errorf("want exit status %d, stop %q; got %+v", code, stop, exit)
	}
}

func checkSignal(t testing.TB, exit supervise.Exit, signal string, stop supervise.Stop) {
	t.Helper()
	if exit.ExitCode != nil || exit.Signal != signal || exit.Stop != stop {
		t.Errorf("want %s, stop %q; got %+v", signal, stop, exit)
	}
}

func TestExitFacts(t *testing.T) {
	t.Parallel()
	slot := start(t)
	inv := job(t, "echo out; echo err >&2; exit 3")
	exit := runIn(t, slot, inv)
	checkExit(t, exit, 3, supervise.StopNone)
	if read(t, inv, "stdout.txt") != "out\n" || read(t, inv, "stderr.txt") != "err\n" {
		t.Error("the streams were not captured apart")
	}
	var onDisk supervise.Exit
	if err := json.Unmarshal([]byte(read(t, inv, "exit.json")), &onDisk); err != nil {
		t.Fatal(err)
	}
	if onDisk.PID != exit.PID || *onDisk.ExitCode != 3 || onDisk.SchemaVersion != 1 || onDisk.Outcome.Denials == nil {
		t.Errorf("exit.json differs: %+v", onDisk)
	}
	list := events(t, inv.Dir)
	if int64(len(list)) != exit.Events || list[0].Kind != runtime.EventStarted || list[0].PID != exit.PID || list[0].StartTime == 0 {
		t.Errorf("events: %+v", list)
	}
	if last := list[len(list)-1]; last.Kind != runtime.EventExited || last.Text != untrusted.From("exit status 3") {
		t.Errorf("last event: %+v", last)
	}
	checkSignal(t, runIn(t, slot, job(t, "kill -KILL $$")), "SIGKILL", supervise.StopNone)
	checkExit(t, runIn(t, slot, job(t, "exit 0")), 0, supervise.StopNone)
}

func TestStartedIsReported(t *testing.T) {
	t.Parallel()
	slot := start(t)
	inv := job(t, "exit 0")
	var seen supervise.Process
	exit, err := slot.Run(t.Context(), inv, nil, func(p supervise.Process) { seen = p })
	if err != nil || seen.PID == 0 || seen.PID != exit.PID || seen.StartTime == 0 {
		t.Errorf("started %+v, exit %+v, %v", seen, exit, err)
	}
}

func TestProgramsThatCannotStart(t *testing.T) {
	t.Parallel()
	slot := start(t)
	for name, change := range map[string]func(*supervise.Invocation){
		"not on PATH":               func(inv *supervise.Invocation) { inv.Argv = []string{"no-such-program"} },
		"no such file or directory": func(inv *supervise.Invocation) { inv.Argv = []string{"/no/such/program"} },
		"/no/such/folder":           func(inv *supervise.Invocation) { inv.Cwd = "/no/such/folder" },
		"permission denied":         func(inv *supervise.Invocation) { inv.Argv = []string{"/etc/passwd"} },
		"no decoder":                func(inv *supervise.Invocation) { inv.Decoder.Runtime = "unheard-of" },
	} {
		inv := job(t, "exit 0")
		change(&inv)
		exit := runIn(t, slot, inv)
		if !strings.Contains(exit.SpawnError, name) || exit.ExitCode != nil || exit.PID != 0 {
			t.Errorf("%s: %+v", name, exit)
		}
		if !strings.Contains(read(t, inv, "exit.json"), `"spawnError":`) {
			t.Errorf("%s: exit.json does not say so", name)
		}
	}
	checkExit(t, runIn(t, slot, job(t, "exit 0")), 0, supervise.StopNone)
}

func TestRefusedInvocations(t *testing.T) {
	t.Parallel()
	slot := start(t)
	for want, change := range map[string]func(*supervise.Invocation){
		"no command": func(inv *supervise.Invocation) { inv.Argv = nil },
		"absolute":   func(inv *supervise.Invocation) { inv.Dir = "relative" },
		"no timeout": func(inv *supervise.Invocation) { inv.Timeout = 0 },
	} {
		inv := job(t, "exit 0")
		change(&inv)
		if _, err := slot.Run(t.Context(), inv, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if !slot.Idle() {
		t.Error("a refused invocation must not cost the slot")
	}
}

func TestEvidenceFolderMissing(t *testing.T) {
	t.Parallel()
	slot := start(t)
	inv := job(t, "exit 0")
	inv.Dir = "/no/such/folder"
	exit, err := slot.Run(t.Context(), inv, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "incomplete") || !strings.Contains(exit.SpawnError, "evidence") {
		t.Errorf("%+v, %v", exit, err)
	}
	if !slot.Idle() {
		t.Error("nothing was started, the slot is free")
	}
}

func TestHandshake(t *testing.T) {
	t.Parallel()
	program := supervisor(t)
	_, err := supervise.Start(t.Context(), []string{program[0], "wrong"}, version)
	if err == nil || !strings.Contains(err.Error(), `"other"`) || !strings.Contains(err.Error(), `"test"`) {
		t.Errorf("a version mismatch must name both: %v", err)
	}
	_, err = supervise.Start(t.Context(), []string{program[0], "mute"}, version)
	if err == nil || !strings.Contains(err.Error(), "did not answer") {
		t.Errorf("a program that is no supervisor: %v", err)
	}
	_, err = supervise.Start(t.Context(), []string{"/no/such/program"}, version)
	if err == nil || !strings.Contains(err.Error(), "install") {
		t.Errorf("a missing program needs a next step: %v", err)
	}
}

func TestStartedByHand(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, extra := range [][]*os.File{nil, {file}} {
		cmd := exec.Command(supervisor(t)[0], "supervise")
		cmd.ExtraFiles = extra
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "started by orchestrate") {
			t.Errorf("%v: %s", err, out)
		}
	}
}

func TestSupervisorDies(t *testing.T) {
	t.Parallel()
	slot, err := supervise.Start(t.Context(), supervisor(t), version)
	if err != nil {
		t.Fatal(err)
	}
	inv := job(t, "exec sleep 600")
	var child supervise.Process
	_, err = slot.Run(t.Context(), inv, nil, func(p supervise.Process) {
		child = p
		syscall.Kill(slot.PID(), syscall.SIGKILL)
	})
	if err == nil || !strings.Contains(err.Error(), "may still run") || slot.Idle() {
		t.Errorf("error %v, idle %v", err, slot.Idle())
	}
	if _, again := slot.Run(t.Context(), inv, nil, nil); again == nil {
		t.Error("a lost slot must not be used again")
	}
	if err := slot.Close(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("close says how it ended: %v", err)
	}
	syscall.Kill(child.PID, syscall.SIGKILL)
	syscall.Wait4(child.PID, nil, 0, nil) // the test process is its reaper now
}

func TestLockIsHeldUntilTheEndAndNotByTheProgram(t *testing.T) {
	t.Parallel()
	slot := start(t)
	file := filepath.Join(t.TempDir(), "lock")
	lock, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	inv := job(t, "ls -l /proc/self/fd; flock -n "+file+" true && echo free || echo held")
	_, err = slot.Run(t.Context(), inv, []*os.File{lock}, func(supervise.Process) { lock.Close() })
	if err != nil {
		t.Fatal(err)
	}
	out := read(t, inv, "stdout.txt")
	if !strings.Contains(out, "held") || strings.Contains(out, file) {
		t.Errorf("the supervisor alone must hold the lock during the job:\n%s", out)
	}
	awaitFree(t, file)
}

func TestDescriptorsOfTheCallerStayOut(t *testing.T) {
	t.Parallel()
	leak, err := os.CreateTemp(t.TempDir(), "leak")
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	inv := job(t, "ls -l /proc/self/fd")
	runEngine(t, inv, nil, leak, leak, leak)
	if out := read(t, inv, "stdout.txt"); strings.Contains(out, "leak") || strings.Contains(out, "socket") {
		t.Errorf("the program has descriptors that are none of its business:\n%s", out)
	}
}

// runEngine runs one invocation in an engine of its own with the given stdin and
// further descriptors.
func runEngine(t testing.TB, inv supervise.Invocation, stdin *os.File, extra ...*os.File) {
	t.Helper()
	data, err := json.Marshal(inv)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(supervisor(t)[0], "engine", string(data))
	if stdin != nil {
		cmd.Stdin = stdin
	}
	cmd.ExtraFiles = extra
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// engineRole runs one invocation, given as JSON, like an engine would.
func engineRole(args []string) int {
	var inv supervise.Invocation
	if json.Unmarshal([]byte(args[0]), &inv) != nil {
		return 2
	}
	self, err := os.Executable()
	if err != nil {
		return 2
	}
	slot, err := supervise.Start(context.Background(), []string{self, "supervise"}, version)
	if err != nil {
		return 3
	}
	if _, err := slot.Run(context.Background(), inv, nil, func(supervise.Process) { os.Stdout.WriteString("started\n") }); err != nil {
		return 4
	}
	if slot.Close() != nil {
		return 5
	}
	return 0
}

func TestEngineKilledInMidJob(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "lock")
	fifo := filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	inv := job(t, lockLine(file)+"echo say hello; cat "+fifo+"; echo answer done; exit 4")
	inv.Decoder.Runtime = "words"
	data, _ := json.Marshal(inv)
	cmd := exec.Command(supervisor(t)[0], "engine", string(data))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "started\n" {
		t.Fatal(line, err)
	}
	pid := onlyChild(t, cmd.Process.Pid)
	cmd.Process.Kill()
	cmd.Wait()

	// The engine is dead. Let the job go on and wait for its supervisor, which has
	// become a child of ours.
	if err := os.WriteFile(fifo, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || status.ExitStatus() != 0 {
		t.Fatalf("the supervisor: %v, %v", status, err)
	}
	var exit supervise.Exit
	if err := json.Unmarshal([]byte(read(t, inv, "exit.json")), &exit); err != nil {
		t.Fatal(err)
	}
	checkExit(t, exit, 4, supervise.StopNone)
	list := events(t, inv.Dir)
	if int64(len(list)) != exit.Events || len(find(list, runtime.EventAnswer)) != 1 || !exit.Proof.Gone || exit.Outcome.Answer != untrusted.From("done") {
		t.Errorf("the evidence is not whole: %+v %+v", exit, list)
	}
	checkFree(t, file)
}

// onlyChild is the pid of the one child of a process.
func onlyChild(t testing.TB, parent int) (pid int) {
	t.Helper()
	list := strings.Fields(childList(parent))
	if len(list) != 1 {
		t.Fatalf("children of %d: %v", parent, list)
	}
	return atoi(t, list[0])
}
