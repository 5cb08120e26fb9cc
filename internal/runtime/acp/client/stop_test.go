//go:build linux

package client

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"orchestrate/internal/process"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
)

// long is a grace that no test waits out: a test that needs it fails by its own
// time limit.
const long = time.Hour

func TestATurnIsCancelledPolitely(t *testing.T) {
	l := launch(t, acp.Turn{Agent: agentFor(t, `{"turn":[{"text":"half"},{"hang":true}]}`), Grace: long})
	l.until(t, acp.LineText)
	l.signal(t)
	r := l.end(t)
	if r.Outcome.Reason != runtime.ReasonCancelled || r.Outcome.Completed || r.status != 0 {
		t.Errorf("status %d, %+v", r.status, r.Outcome)
	}
	if stops := r.of(acp.LineStop); len(stops) != 1 || !stops[0].Asked {
		t.Errorf("%s", r.stdout)
	}
}

// The protocol wants a question that is open when the turn is cancelled answered so.
func TestQuestionsAfterTheCancelAreAnsweredAsCancelled(t *testing.T) {
	c := &client{turn: acp.Turn{}, out: &printer{to: &bytes.Buffer{}}, stopping: true, uses: map[string]*use{}}
	reply, err := c.permission([]byte(`{"toolCall":{"toolCallId":"1","kind":"read"},"options":[` + once + `]}`))
	if err != nil || !strings.Contains(marshalled(t, reply), `"cancelled"`) {
		t.Errorf("%v, %v", reply, err)
	}
}

func TestAnAgentThatIsDeafIsEnded(t *testing.T) {
	for name, script := range map[string]string{
		"in the turn":             `{"turn":[{"text":"half"},{"deaf":true}]}`,
		"with all that is polite": `{"turn":[{"text":"half"},{"deaf":true}],"ignoreTerm":true}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := launch(t, acp.Turn{Agent: agentFor(t, script), Grace: brief})
			l.until(t, acp.LineText)
			l.signal(t)
			r := l.end(t)
			if r.Outcome.Reason != runtime.ReasonCancelled || r.status != 1 {
				t.Errorf("status %d, %+v\n%s", r.status, r.Outcome, r.stdout)
			}
		})
	}
}

func TestTheSecondSignalEndsItAtOnce(t *testing.T) {
	l := launch(t, acp.Turn{Agent: agentFor(t, `{"turn":[{"text":"half"},{"deaf":true}],"ignoreTerm":true}`), Grace: long})
	l.until(t, acp.LineText)
	for {
		select {
		case _, more := <-l.seen:
			if more {
				continue
			}
		case <-time.After(20 * time.Millisecond): // the kernel makes one of two signals that come close together
			_ = l.Process.Signal(unix.SIGTERM) // it may have ended meanwhile
			continue
		}
		break
	}
	if r := l.end(t); r.Outcome.Reason != runtime.ReasonCancelled {
		t.Errorf("%+v", r.Outcome)
	}
}

func TestAStopBeforeTheTurnEndsTheAgent(t *testing.T) {
	for name, script := range map[string]string{
		"deaf from the start": `{"begin":[{"raw":"x"},{"deaf":true}]}`,
		"and never leaves":    `{"begin":[{"raw":"x"},{"deaf":true}],"ignoreTerm":true,"stayOnEOF":true}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := launch(t, acp.Turn{Agent: agentFor(t, script), Prompt: "never sent", Grace: brief})
			l.until(t, acp.LineWarning)
			l.signal(t)
			if r := l.end(t); r.Outcome.Reason != runtime.ReasonCancelled {
				t.Errorf("%s", r.stdout)
			}
		})
	}
}

// It has answered all there is and hangs on to its life.
func TestAnAgentThatStaysWhenItsInputEndsIsEnded(t *testing.T) {
	for name, script := range map[string]string{
		"leaves when told": `{"turn":[{"text":"ok"}],"stayOnEOF":true}`,
		"does not":         `{"turn":[{"text":"ok"}],"stayOnEOF":true,"ignoreTerm":true}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have(t, script, acp.Turn{Grace: brief}).completed(t, "ok")
		})
	}
}

// An agent is often a wrapper whose child is the real one.
func TestTheWholeGroupIsEnded(t *testing.T) {
	dir := t.TempDir()
	argv := agentFor(t, `{"turn":[{"text":"ok"}]}`)
	sh := `trap "" TERM; sleep 600 & echo $! >"$0/child"; exec "$@"`
	have(t, "", acp.Turn{Agent: append([]string{"/bin/sh", "-c", sh, dir}, argv...), Grace: brief}).completed(t, "ok")
	raw, err := os.ReadFile(dir + "/child")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	for st, ok := process.ReadStat(pid); ok && !st.Dead(); st, ok = process.ReadStat(pid) {
		time.Sleep(time.Millisecond) // it is killed, and goes when the kernel gets to it
	}
	_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // it is ours now
}

// What left the group holds the agent's output open; nobody waits for it.
func TestAChildThatKeepsTheOutputDoesNotKeepTheClient(t *testing.T) {
	argv := agentFor(t, `{"turn":[{"text":"ok"}]}`)
	dir := t.TempDir()
	sh := `setsid sh -c 'echo $$ >"$0/child"; exec sleep 600' "$0" & while ! [ -s "$0/child" ]; do sleep 0.01; done; exec "$@"`
	have(t, "", acp.Turn{Agent: append([]string{"/bin/sh", "-c", sh, dir}, argv...), Grace: brief}).completed(t, "ok")
	raw, err := os.ReadFile(dir + "/child")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("what left the group was ended, though that is the supervisor's matter: %v", err)
	}
	_, _ = syscall.Wait4(pid, nil, 0, nil) // it is ours now
}

// The prompt is more than a pipe holds, and nobody reads it.
func TestAnAgentThatDoesNotReadItsPromptIsEnded(t *testing.T) {
	sh := `IFS= read -r line; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'; ` +
		`IFS= read -r line; printf '%s\n' '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'; exec sleep 600`
	l := launch(t, acp.Turn{Agent: []string{"/bin/sh", "-c", sh}, Prompt: strings.Repeat("x", 4<<20), Grace: brief})
	l.until(t, acp.LineSession)
	l.signal(t)
	if r := l.end(t); r.Outcome.Reason != runtime.ReasonCancelled {
		t.Errorf("%s", r.stdout)
	}
}

func TestMainReadsNothingButATurn(t *testing.T) {
	var out, errs bytes.Buffer
	status := Main(nil, strings.NewReader("hello"), &out, &errs)
	read(t, acp.Turn{}, status, out.String(), errs.String()).failed(t, runtime.ReasonSpawn, "a turn in JSON")
}
