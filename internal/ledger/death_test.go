package ledger

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const ownerEnv = "LEDGER_TEST_OWNER_OF"

// TestOwnerProcess is not a test by itself: it is the process that
// TestTheDeathOfTheOwner kills.
func TestOwnerProcess(t *testing.T) {
	root := os.Getenv(ownerEnv)
	if root == "" {
		return
	}
	r, err := Create(root, day)
	must(t, err)
	must(t, r.Append(RunStarted(RunInfo{RunID: r.ID, Jobs: []string{"a"}}), Intent("a", 1, Route{Runtime: "exec"})))
	fmt.Println("run", r.Dir)
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil { // until killed
		t.Fatal(err)
	}
}

func TestTheDeathOfTheOwner(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestOwnerProcess$")
	cmd.Env = append(os.Environ(), ownerEnv+"="+t.TempDir())
	hold, err := cmd.StdinPipe()
	must(t, err)
	defer hold.Close()
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	dir := strings.TrimSpace(strings.TrimPrefix(line, "run "))
	if owned, err := Owned(dir); err != nil || !owned {
		t.Errorf("while it lives: owned %v, %v", owned, err)
	}
	must(t, cmd.Process.Kill())
	if err := cmd.Wait(); err == nil {
		t.Error("it ended by itself")
	}
	if owned, err := Owned(dir); err != nil || owned {
		t.Errorf("after its death: owned %v, %v", owned, err)
	}
	s, err := Replay(dir)
	must(t, err)
	if j := s.Job("a"); j.Attempt != 1 || s.Phase != PhaseRunning {
		t.Errorf("what was durable is lost: %+v", s)
	}
}

// FuzzReplay: whatever the bytes, reading ends with a state or an error, and a
// torn line behind sound ones changes nothing.
func FuzzReplay(f *testing.F) {
	r := newRun(f, "a")
	must(f, r.Append(Intent("a", 1, sampleRoute()), Started("a", 1, 4, 5), settled("a", 1, Success, ""), RunEnded("pass", 0)))
	good, err := os.ReadFile(r.Path(JournalFile))
	must(f, err)
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte("{}\n"))
	f.Add([]byte("\n\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		whole := data[:bytes.LastIndexByte(data, '\n')+1]
		var a, b folder
		_, errA := a.replay("j", bytes.NewReader(data), nil)
		_, errB := b.replay("j", bytes.NewReader(whole), nil)
		if (errA == nil) != (errB == nil) || a.state.Seq != b.state.Seq {
			t.Errorf("with the torn line seq %d, %v; without it seq %d, %v", a.state.Seq, errA, b.state.Seq, errB)
		}
	})
}
