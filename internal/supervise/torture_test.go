//go:build linux

package supervise_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/supervise"
	"orchestrate/internal/untrusted"
)

// A limit that a test waits for. No test asserts how long anything took.
const brief = 500 * time.Millisecond

func TestStdinIsGivenAndClosed(t *testing.T) {
	t.Parallel()
	slot := start(t)
	inv := job(t, "cat >/dev/null; echo ok")
	checkExit(t, runIn(t, slot, inv), 0, supervise.StopNone)
	if read(t, inv, "stdout.txt") != "ok\n" {
		t.Error("a program that reads its stdin to the end must see the end")
	}
	for _, prompt := range []string{"", "--version\n---\n-x", strings.Repeat("é", 100_000)} {
		inv := job(t, "wc -c")
		inv.Stdin = []byte(prompt)
		runIn(t, slot, inv)
		if got := strings.TrimSpace(read(t, inv, "stdout.txt")); got != strconv.Itoa(len(prompt)) {
			t.Errorf("%d bytes given, %s arrived", len(prompt), got)
		}
	}
	unread := job(t, "exec <&-; echo gone")
	unread.Stdin = make([]byte, 1<<20)
	checkExit(t, runIn(t, slot, unread), 0, supervise.StopNone)
}

func TestEngineStdinIsAFifoNobodyCloses(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	open, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	inv := job(t, "cat >/dev/null; echo ok")
	runEngine(t, inv, open)
	if read(t, inv, "stdout.txt") != "ok\n" {
		t.Error("the program waited for the engine's own stdin")
	}
}

func TestNoTerminal(t *testing.T) {
	t.Parallel()
	inv := job(t, "cat </dev/tty; echo went on")
	checkExit(t, run(t, inv), 0, supervise.StopNone)
	if read(t, inv, "stdout.txt") != "went on\n" || !strings.Contains(read(t, inv, "stderr.txt"), "/dev/tty") {
		t.Error("opening the terminal must fail, not stop the job")
	}
}

func TestFirstOutputLimit(t *testing.T) {
	t.Parallel()
	slot := start(t)
	inv := job(t, "exec sleep 1e6")
	inv.FirstOutput = brief
	inv.PoliteStop = "TERM"
	checkSignal(t, runIn(t, slot, inv), "SIGTERM", supervise.StopFirstOutput)
	signals := find(events(t, inv.Dir), runtime.EventSignal)
	if len(signals) != 1 || !strings.Contains(signals[0].Text.Unshown(), "SIGTERM: no output within 500ms") {
		t.Errorf("the event must say which limit it was: %+v", signals)
	}
	heard := job(t, "echo x >&2; exec sleep 1e6")
	heard.FirstOutput, heard.Timeout = 2*brief, 3*brief
	checkSignal(t, runIn(t, slot, heard), "SIGKILL", supervise.StopTimeout)
}

// TestTreesThatMustDie runs one kind of tree after another until its timeout, or
// lets it end with something left behind, with and without a cgroup. Each process
// of a tree holds a lock.
func TestTreesThatMustDie(t *testing.T) {
	for name, level := range map[string]supervise.ProofLevel{"supervise": "", "plain": supervise.ProofSubreaper} {
		t.Run(name, func(t *testing.T) { testTrees(t, []string{supervisor(t)[0], name}, level) })
	}
}

func testTrees(t *testing.T, program []string, level supervise.ProofLevel) {
	self := program[0]
	for _, c := range []struct {
		name, script, polite string
		timeout              time.Duration
		code                 int // -1 = SIGKILL after the timeout
	}{
		{"grandchildren", "(sleep 600 & (sleep 600 & wait) & wait)", "", brief, -1},
		{"own session", "setsid sleep 600 & wait", "", brief, -1},
		{"deaf", "trap '' TERM INT; while :; do sleep 1; done", "TERM", brief, -1},
		{"deaf group", "trap '' TERM INT; while :; do sleep 1; done", "TERM-GROUP", brief, -1},
		{"polite", "trap 'exit 0' INT; while :; do sleep 0.05; done", "INT", brief, 0},
		{"stopped", "kill -STOP $$; echo never", "TERM", brief, -1},
		{"daemon", self + " daemon $LOCK", "", time.Minute, 0},
		{"escapee that holds stdout", "setsid sleep 600 & exit 0", "", time.Minute, 0},
		{"polite with a session of its own left", "setsid sleep 600 & trap 'exit 0' TERM; while :; do sleep 0.05; done", "TERM", brief, 0},
		{"chain", "f() { sleep 0.01; f & }; f; wait; sleep 600", "", brief, -1},
		{"forks while dying", "while :; do sleep 600 & sleep 0.02; done", "", brief, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			slot := startProgram(t, program)
			file := filepath.Join(t.TempDir(), "lock")
			inv := job(t, lockLine(file)+c.script)
			inv.Env = append(inv.Env, "LOCK="+file)
			inv.Timeout, inv.PoliteStop, inv.Grace = c.timeout, c.polite, time.Minute
			if c.code < 0 {
				inv.Grace = brief
			}
			exit := runIn(t, slot, inv)
			switch {
			case c.code < 0:
				checkSignal(t, exit, "SIGKILL", supervise.StopTimeout)
			case c.timeout == brief:
				checkExit(t, exit, c.code, supervise.StopTimeout)
			default:
				checkExit(t, exit, c.code, supervise.StopNone)
			}
			checkFree(t, file)
			if level != "" && exit.Proof.Level != level {
				t.Errorf("proof %+v", exit.Proof)
			}
			if exit := runIn(t, slot, job(t, "exit 0")); exit.ExitCode == nil {
				t.Error("the slot must be usable afterwards")
			}
		})
	}
}

func TestDescendantsAreRecorded(t *testing.T) {
	t.Parallel()
	inv := job(t, "setsid sleep 600 & echo $!; wait")
	inv.Timeout = 2 * brief
	run(t, inv)
	pid := atoi(t, strings.TrimSpace(read(t, inv, "stdout.txt")))
	for _, e := range find(events(t, inv.Dir), runtime.EventProcess) {
		if e.PID == pid && e.StartTime > 0 {
			return
		}
	}
	t.Errorf("process %d is in no event: %+v", pid, events(t, inv.Dir))
}

func TestCancel(t *testing.T) {
	t.Parallel()
	slot := start(t)
	inv := job(t, "trap 'echo bye; exit 0' INT; echo up; while :; do sleep 0.05; done")
	inv.PoliteStop = "INT"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	exit, err := slot.Run(ctx, inv, nil, func(supervise.Process) { cancelOnceUp(inv, cancel) })
	if err != nil {
		t.Fatal(err)
	}
	checkGone(t, slot, exit)
	checkExit(t, exit, 0, supervise.StopCancelled)
	if read(t, inv, "stdout.txt") != "up\nbye\n" {
		t.Error("the polite signal must let it finish its output")
	}
	exit, err = slot.Run(ctx, job(t, "exit 0"), nil, nil)
	if err != nil || exit.Stop != supervise.StopCancelled || exit.PID != 0 || !slot.Idle() {
		t.Errorf("nothing is started once the context has ended: %+v, %v", exit, err)
	}
}

// cancelOnceUp waits until the job has said something, which the supervisor
// flushes while the job runs, and cancels it.
func cancelOnceUp(inv supervise.Invocation, cancel func()) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if out, err := os.ReadFile(filepath.Join(inv.Dir, "stdout.txt")); err == nil && len(out) > 0 {
			cancel()
			return
		}
	}
}

func TestKillSkipsTheGrace(t *testing.T) {
	t.Parallel()
	slot := start(t)
	inv := job(t, "trap '' TERM; echo up; while :; do sleep 1; done")
	inv.PoliteStop, inv.Grace, inv.Timeout = "TERM", time.Hour, 2*time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	exit, err := slot.Run(ctx, inv, nil, func(supervise.Process) {
		cancelOnceUp(inv, cancel)
		slot.Kill()
	})
	if err != nil {
		t.Fatal(err)
	}
	checkGone(t, slot, exit)
	checkSignal(t, exit, "SIGKILL", supervise.StopCancelled)
	slot.Kill() // between jobs: nothing
	checkExit(t, runIn(t, slot, job(t, "exit 0")), 0, supervise.StopNone)
}

func TestSupervisorIsToldToEnd(t *testing.T) {
	t.Parallel()
	slot := start(t)
	inv := job(t, "exec sleep 600")
	inv.PoliteStop = "TERM"
	exit, err := slot.Run(t.Context(), inv, nil, func(supervise.Process) { syscall.Kill(slot.PID(), syscall.SIGTERM) })
	if err != nil {
		t.Fatal(err)
	}
	checkSignal(t, exit, "SIGTERM", supervise.StopCancelled)
}

func TestDecoderSettles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "lock")
	inv := job(t, lockLine(file)+"echo say trying; echo hopeless 401 unauthorized; sleep 600")
	inv.Decoder.Runtime = "words"
	exit := run(t, inv)
	checkSignal(t, exit, "SIGKILL", supervise.StopSettled)
	if exit.Outcome.Reason != runtime.ReasonAuth || exit.Outcome.Evidence != untrusted.From("401 unauthorized") {
		t.Errorf("outcome %+v", exit.Outcome)
	}
	checkFree(t, file)
}

func TestDecodedEvents(t *testing.T) {
	t.Parallel()
	inv := job(t, "echo say one; echo noise >&2; echo say two; printf 'answer the end'")
	inv.Decoder.Runtime = "words"
	exit := run(t, inv)
	if exit.Outcome.Answer != untrusted.From("the end") || !exit.Outcome.Completed {
		t.Errorf("a last line without a newline counts: %+v", exit.Outcome)
	}
	list := events(t, inv.Dir)
	if texts := find(list, runtime.EventText); len(texts) != 2 || texts[1].Text != untrusted.From("two") {
		t.Errorf("%+v", list)
	}
	if len(find(list, runtime.EventWarning)) != 1 || len(find(list, runtime.EventComplete)) != 1 {
		t.Errorf("%+v", list)
	}
}

func TestDecoderThatPanics(t *testing.T) {
	t.Parallel()
	slot := start(t)
	inv := job(t, "echo say one; echo panic; echo say two; echo kept")
	inv.Decoder.Runtime = "words"
	exit, err := slot.Run(t.Context(), inv, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "a bug in the decoder") {
		t.Errorf("the engine must hear of it: %v", err)
	}
	checkGone(t, slot, exit)
	if !strings.Contains(read(t, inv, "stdout.txt"), "kept") || exit.Outcome.Completed {
		t.Errorf("the job goes on, without a completion: %+v", exit)
	}
}

func TestSecretsStayOffTheDisk(t *testing.T) {
	t.Parallel()
	const value = "q7Zr-Xw93-vLk2-TT0p-9sPa"
	script := "printf 'q7Zr-Xw93-'; sleep 0.3; printf 'vLk2-TT0p-9sPa\\n'; echo say " + value + " >&1; echo " + value + " >&2; echo answer " + value
	inv := job(t, script)
	inv.Decoder.Runtime, inv.Secrets = "words", []string{value}
	exit := run(t, inv)
	if !strings.Contains(exit.Outcome.Answer.Unshown(), "[REDACTED") {
		t.Errorf("the answer: %q", exit.Outcome.Answer)
	}
	files, err := filepath.Glob(filepath.Join(inv.Dir, "*"))
	if err != nil || len(files) != 4 {
		t.Errorf("files of the job: %v, %v", files, err)
	}
	for _, file := range files {
		if data, err := os.ReadFile(file); err != nil || strings.Contains(string(data), value) {
			t.Errorf("%s holds the secret (%v)", file, err)
		}
	}
	inv.Unredacted, inv.Dir = true, t.TempDir()
	run(t, inv)
	if !strings.Contains(read(t, inv, "stdout.txt"), value) || !strings.Contains(read(t, inv, "events.jsonl"), value) {
		t.Error("without redaction the same search must find it")
	}
}

func TestEventLogIsBounded(t *testing.T) {
	t.Parallel()
	line := "say " + strings.Repeat("x", 1000)
	inv := job(t, "yes '"+line+"' | head -n 12000; echo answer the end")
	inv.Decoder.Runtime = "words"
	exit := run(t, inv)
	list := events(t, inv.Dir)
	dropped := find(list, runtime.EventDropped)
	if len(dropped) != 1 || dropped[0].Bytes == 0 || len(find(list, runtime.EventAnswer)) != 1 || int64(len(list)) != exit.Events {
		t.Errorf("dropped %+v of %d events", dropped, len(list))
	}
	if size := len(read(t, inv, "events.jsonl")); size > 9<<20 {
		t.Errorf("events.jsonl has %d bytes", size)
	}
}

func TestOversizeLine(t *testing.T) {
	t.Parallel()
	inv := job(t, "head -c 5000000 /dev/zero | tr '\\0' x; echo; echo answer yes")
	inv.Decoder.Runtime = "words"
	exit := run(t, inv)
	long := find(events(t, inv.Dir), runtime.EventOversize)
	if len(long) != 1 || long[0].Bytes < 5_000_000 || exit.Outcome.Answer != untrusted.From("yes") {
		t.Errorf("%+v %+v", long, exit.Outcome)
	}
}

// TestFlood is 1 GiB to stdout, seen by a decoder, and endless lines on both
// streams until a timeout: the files stay bounded and the supervisor small.
func TestFlood(t *testing.T) {
	slot, err := supervise.Start(t.Context(), supervisor(t), version)
	if err != nil {
		t.Fatal(err)
	}
	inv := job(t, "yes 'a line of output that nobody will read' | head -c 1073741824; echo; echo the last line")
	runIn(t, slot, inv)
	out := read(t, inv, "stdout.txt")
	if len(out) > 1<<20+200 || !strings.Contains(out, "bytes dropped") || !strings.HasSuffix(out, "the last line\n") {
		t.Errorf("%d bytes, ending in %q", len(out), out[max(0, len(out)-50):])
	}
	endless := job(t, "yes out & yes err >&2 & wait")
	endless.Timeout, endless.Decoder.Runtime = brief, "words"
	exit := runIn(t, slot, endless)
	checkSignal(t, exit, "SIGKILL", supervise.StopTimeout)

	if peak := peakMemory(t, slot.PID()); peak > 25<<20*raceFactor {
		t.Errorf("the supervisor grew to %d bytes", peak)
	}
	if err := slot.Close(); err != nil {
		t.Error(err)
	}
}

// peakMemory is the high-water mark of a process's resident memory, which is what
// wait4 would report of it.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	return atoi(t, strings.Fields(rest)[0]) << 10
}
