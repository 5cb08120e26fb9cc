//go:build linux

package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"orchestrate/internal/process"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
	"orchestrate/internal/runtime/acp/acptest"
	"orchestrate/internal/runtime/probe/probetest"
	"orchestrate/internal/untrusted"
)

// The test binary is also the agent and the client's own process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "agent":
			os.Exit(acptest.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		case acp.Command:
			os.Exit(Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		}
	}
	// Whatever a test leaves behind becomes our child, and is seen below.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Under the race detector every process would sleep a second before it exits.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	process.Descendants(func(pid int, st process.Stat) bool {
		if !st.Dead() {
			fmt.Fprintln(os.Stderr, "a process was left behind:", pid)
			code = 1
		}
		return true
	})
	os.Exit(code)
}

// agentFor is the command of an agent that plays the script.
func agentFor(t *testing.T, script string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{self(t), "agent", file}
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// brief is a grace that a test waits out where the agent has none.
const brief = 150 * time.Millisecond

// result is what a turn came to.
type result struct {
	lines  []acp.Line
	status int
	acp.Turn
	probetest.Transcript
	stdout, stderr string
}

// have plays a turn with an agent that follows the script.
func have(t *testing.T, script string, turn acp.Turn) result {
	t.Helper()
	if turn.Agent == nil {
		turn.Agent = agentFor(t, script)
	}
	if turn.Dir == "" {
		turn.Dir = t.TempDir()
	}
	var out, errs bytes.Buffer
	status := Run(turn, &out, &errs, nil)
	return read(t, turn, status, out.String(), errs.String())
}

func read(t *testing.T, turn acp.Turn, status int, stdout, stderr string) result {
	t.Helper()
	r := result{status: status, Turn: turn, stdout: stdout, stderr: stderr}
	for line := range strings.Lines(stdout) {
		var l acp.Line
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		r.lines = append(r.lines, l)
	}
	r.Transcript = probetest.Decode(acp.NewDecoder(runtime.DecoderSpec{Runtime: acp.DecoderName}), []byte(stdout), []byte(stderr))
	return r
}

// of are the lines of one type.
func (r result) of(kind acp.LineType) (all []acp.Line) {
	for _, l := range r.lines {
		if l.Type == kind {
			all = append(all, l)
		}
	}
	return all
}

// text is what the agent said.
func (r result) text() (all string) {
	for _, l := range r.of(acp.LineText) {
		all += l.Text
	}
	return all
}

// failed checks that the turn failed for a reason that is said.
func (r result) failed(t *testing.T, why runtime.Reason, says ...string) {
	t.Helper()
	if r.status == 0 || r.Outcome.Completed || !r.Outcome.ErrorFlag || r.Outcome.Reason != why {
		t.Errorf("status %d, outcome %+v, want a failure of class %s\n%s", r.status, r.Outcome, why, r.stdout)
	}
	for _, text := range says {
		if !strings.Contains(r.Outcome.Evidence.Unshown(), text) {
			t.Errorf("it says %q and not %q", r.Outcome.Evidence, text)
		}
	}
}

// completed checks that the turn came to its end with an answer.
func (r result) completed(t *testing.T, answer string) {
	t.Helper()
	if r.status != 0 || !r.Outcome.Completed || r.Outcome.ErrorFlag || r.Outcome.Answer != untrusted.From(answer) {
		t.Errorf("status %d, outcome %+v, want the answer %q\n%s%s", r.status, r.Outcome, answer, r.stdout, r.stderr)
	}
}

// launched is a client in a process of its own, to be signalled.
type launched struct {
	*exec.Cmd
	turn acp.Turn
	out  *bytes.Buffer
	seen chan acp.Line // its lines, closed at the end
}

func launch(t *testing.T, turn acp.Turn) *launched {
	t.Helper()
	if turn.Dir == "" {
		turn.Dir = t.TempDir()
	}
	raw, err := json.Marshal(turn)
	if err != nil {
		t.Fatal(err)
	}
	l := &launched{Cmd: exec.Command(self(t), acp.Command), turn: turn, out: &bytes.Buffer{}, seen: make(chan acp.Line, 10_000)}
	l.Stdin = bytes.NewReader(raw)
	out, err := l.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Process.Kill() }) // it has ended unless the test failed
	go func() {
		defer close(l.seen)
		decoder := json.NewDecoder(out)
		for {
			var line acp.Line
			if decoder.Decode(&line) != nil {
				return
			}
			raw, _ := json.Marshal(line)
			fmt.Fprintf(l.out, "%s\n", raw)
			l.seen <- line
		}
	}()
	return l
}

// until waits for a line.
func (l *launched) until(t *testing.T, kind acp.LineType) {
	t.Helper()
	for line := range l.seen {
		if line.Type == kind {
			return
		}
	}
	t.Fatalf("no line %q came:\n%s", kind, l.out)
}

func (l *launched) signal(t *testing.T) {
	t.Helper()
	if err := l.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// end waits for the client.
func (l *launched) end(t *testing.T) result {
	t.Helper()
	for range l.seen { // to its end
	}
	_ = l.Wait() // the status tells
	return read(t, l.turn, l.ProcessState.ExitCode(), l.out.String(), "")
}

func marshalled(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
