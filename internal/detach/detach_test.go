//go:build linux

package detach

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"orchestrate/internal/process"
)

// The test binary is also the step between and the engine.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "launch":
			if err := Launch(os.Args[0], os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		case "engine":
			os.Exit(engine(os.Args[2:]))
		}
	}
	goleak.VerifyTestMain(m)
}

// engine says what it sees of itself, waits for an interrupt if told so, and ends
// with status 7.
func engine(args []string) int {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	control, err := Serve()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	cwd, _ := os.Getwd()
	session, _ := unix.Getsid(0)
	input, _ := os.Readlink("/proc/self/fd/0")
	var open []string
	names, _ := os.ReadDir("/proc/self/fd")
	for _, n := range names {
		to, _ := os.Readlink("/proc/self/fd/" + n.Name())
		open = append(open, to)
	}
	out := NewStream(os.Stdout, func(int64) {})
	json.NewEncoder(out).Encode(sees{os.Getpid(), os.Getppid(), session, unix.Getpgrp(), cwd, os.Getenv("GREETING"), input, open})
	control.Begun("id", cwd)
	switch args[0] {
	case "wait":
		<-control.Interrupts()
	case "ask":
		ctx, stop := context.WithCancel(context.Background())
		go func() {
			<-control.Interrupts()
			stop()
		}()
		for range 2 {
			json.NewEncoder(out).Encode(control.Ask(ctx, "really?", 3))
		}
	}
	out.Close()
	control.Ended(7)
	return 7
}

type sees struct {
	PID, Parent, Session, Group int
	Cwd, Greeting, Input        string
	Open                        []string
}

func start(t *testing.T, args ...string) *Viewer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	v, err := Start(self, append([]string{"launch"}, args...), []string{"GREETING=hello", "GORACE=atexit_sleep_ms=0"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTheEngineIsNobodysChild(t *testing.T) {
	// A descriptor that is inherited, as a shell's may be.
	kept, err := os.Create(filepath.Join(t.TempDir(), "kept"))
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	dup, err := unix.Dup(int(kept.Fd())) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dup)

	v := start(t, "engine", "wait")
	defer v.Close()
	id := *(<-v.Messages()).Engine
	begun := *(<-v.Messages()).Begun
	v.Interrupt()
	text, err := io.ReadAll(v.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	var e sees
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	own, _ := unix.Getsid(0)
	if e.PID != id.PID || e.Session != e.PID || e.Session == own || e.Group == unix.Getpgrp() || e.Parent == os.Getpid() {
		t.Errorf("%+v is not apart from %d", e, os.Getpid())
	}
	if e.Cwd != begun.Dir || e.Greeting != "hello" || e.Input != "/dev/null" {
		t.Errorf("%+v, begun in %s", e, begun.Dir)
	}
	for _, to := range e.Open {
		if strings.HasSuffix(to, "/kept") {
			t.Errorf("it holds what the caller had open: %v", e.Open)
		}
	}
	if ended := (<-v.Messages()).Ended; ended == nil || ended.Status != 7 {
		t.Errorf("ended: %+v", ended)
	}
	if m, ok := <-v.Messages(); ok {
		t.Errorf("after its last word: %+v", m)
	}
	if err := Gone(t.Context(), id); err != nil || id.Fate() != process.Gone {
		t.Errorf("it is %s (%v)", id.Fate(), err)
	}
}

// asking is an engine that has said where it is and asks; the reader has its output.
func asking(t *testing.T) (*Viewer, process.Identity, *json.Decoder) {
	t.Helper()
	v := start(t, "engine", "ask")
	id := *(<-v.Messages()).Engine
	<-v.Messages() // where the run is
	out := json.NewDecoder(v.Stdout)
	var e sees
	if err := out.Decode(&e); err != nil {
		t.Fatal(err)
	}
	return v, id, out
}

func answered(t *testing.T, out *json.Decoder) (a Answer) {
	t.Helper()
	if err := out.Decode(&a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestTheEngineAsksAndTheViewerAnswers(t *testing.T) {
	v, id, out := asking(t)
	defer v.Close()
	q := *(<-v.Messages()).Question
	if q.N != 1 || q.Text != "really?" || q.After != 3 {
		t.Errorf("%+v", q)
	}
	v.Answer(Answer{N: 7, Asked: true, Yes: true}) // to another question
	v.Answer(Answer{N: 1, Asked: true, Yes: true})
	if a := answered(t, out); a != (Answer{N: 1, Asked: true, Yes: true}) {
		t.Errorf("%+v", a)
	}
	if q = *(<-v.Messages()).Question; q.N != 2 {
		t.Errorf("%+v", q)
	}
	v.Interrupt()
	if a := answered(t, out); a != (Answer{}) {
		t.Errorf("interrupted: %+v", a)
	}
	if err := Gone(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

// Nobody answers for a viewer that has gone.
func TestAViewerThatGoesSaysNo(t *testing.T) {
	v, id, _ := asking(t)
	<-v.Messages()
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Gone(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

// An engine ends by itself when its viewer has gone in the middle.
func TestTheViewerMayGo(t *testing.T) {
	v := start(t, "engine", "run")
	id := *(<-v.Messages()).Engine
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Gone(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

func TestWaitingForAnEngineCanBeEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Gone(ctx, process.Self()); err == nil {
		t.Error("this process is said to have gone")
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	if _, err := Start("/nonexistent", nil, nil, t.TempDir()); err == nil || !strings.Contains(err.Error(), "/nonexistent") {
		t.Errorf("%v", err)
	}
	if _, err := Start("/bin/sh", []string{"-c", "echo cannot >&2; exit 3"}, nil, t.TempDir()); err == nil || !strings.Contains(err.Error(), "cannot") {
		t.Errorf("%v", err)
	}
}
