//go:build linux || darwin

package supervise

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"orchestrate/internal/failpoint"
)

const (
	helloLimit = 10 * time.Second
	// overdue is how long past its own limits a supervisor may stay silent
	// before the engine gives up on it.
	overdue = 2 * time.Minute
)

// Slot is the engine's handle of one supervisor process. It runs one job after
// another, each only after the last tree is proven gone. Run is for one goroutine
// at a time; Kill and Idle may be called from any.
type Slot struct {
	cmd    *exec.Cmd
	conn   *os.File // a socket, in the runtime's poller; package net would double the lean program's start
	in     *bufio.Reader
	stderr *os.File // what the supervisor says when it crashes; nil where that cannot be kept off the disk

	mu      sync.Mutex // guards what follows and writes to conn
	turn    int64
	running bool
	fit     bool // the last tree is proven gone and the connection is whole
	waited  bool
}

// Start starts the supervisor process with the command program (see Program) and
// checks that it is of the given version. ctx bounds the start only.
func Start(ctx context.Context, program []string, version string) (*Slot, error) {
	if len(program) == 0 {
		return nil, errors.New("no supervisor program given")
	}
	s, err := launch(program)
	if err != nil {
		return nil, fmt.Errorf("cannot start the supervisor %s: %w; install orchestrate-supervise beside orchestrate", program[0], err)
	}
	if err := s.handshake(ctx, program[0], version); err != nil {
		s.abandon()
		return nil, err
	}
	s.fit = true
	return s, nil
}

// launch starts the process with its end of a socket pair as descriptor 3. It
// gets no environment, so that nothing secret can be read from it, and none of the
// engine's streams, so that it cannot hold a pipe of the caller open.
func launch(program []string) (*Slot, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	s := &Slot{conn: ours, in: bufio.NewReader(ours), stderr: crashFile()}
	s.cmd = exec.Command(program[0], program[1:]...)
	s.cmd.Env = append([]string{"GOTRACEBACK=single"}, failpoint.Env()...)
	s.cmd.ExtraFiles = []*os.File{theirs}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if s.stderr != nil {
		s.cmd.Stderr = s.stderr
	}
	if err := s.cmd.Start(); err != nil {
		s.closeFiles()
		return nil, err
	}
	return s, nil
}

func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err == nil {
		err = unix.SetNonblock(fds[0], true)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "supervisor"), os.NewFile(uintptr(fds[1]), "control"), nil
}

// handshake reads the hello frame.
func (s *Slot) handshake(ctx context.Context, program, version string) error {
	if err := s.conn.SetReadDeadline(time.Now().Add(helloLimit)); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { s.expire() })
	m, err := s.receive()
	stop()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%s %w: %w%s", program, ErrNoAnswer, err, s.lastWords())
	case m.Kind != kindHello || m.Version != version || m.Protocol != protocol:
		return fmt.Errorf("%s is of version %q (protocol %d) but this orchestrate is %q (protocol %d): install both programs from the same release", program, m.Version, m.Protocol, version, protocol)
	}
	return s.conn.SetReadDeadline(time.Time{})
}

// expire makes a pending read return. An error here means that the connection is
// closed already, which ends the read as well.
func (s *Slot) expire() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) }

// Run runs one attempt and returns when its tree has ended. started is called
// once the program runs; it may be nil. The end of ctx stops the program politely,
// then for good, and Run returns its Exit with Stop "cancelled". locks are locked
// files that the supervisor holds too until exit.json is written, and never passes on
// to the program. The first, if there is one, is the attempt's, open for appending:
// the supervisor writes into it what the tree can be found by, should it die.
//
// An error means that the supervisor itself failed or could not be used; it says
// what is known of the program. With a non-zero Exit it means that the job has
// ended as Exit says but part of its evidence could not be kept (a full disk).
// If ctx had ended before, nothing is started and nothing written.
func (s *Slot) Run(ctx context.Context, inv Invocation, locks []*os.File, started func(Process)) (Exit, error) {
	if err := check(inv); err != nil {
		return Exit{}, err
	}
	if ctx.Err() != nil {
		return neverStarted(inv), nil
	}
	turn, err := s.begin()
	if err != nil {
		return Exit{}, err
	}
	if err := s.dispatch(turn, inv, locks); err != nil {
		return Exit{}, s.lost(inv, nil, err)
	}
	stop := context.AfterFunc(ctx, func() { s.signal(turn, kindCancel) })
	defer stop()
	return s.await(inv, started)
}

// check refuses what a supervisor could not keep its promises for.
func check(inv Invocation) error {
	switch {
	case len(inv.Argv) == 0:
		return fmt.Errorf("job %s: no command to run", inv.Job)
	case !filepath.IsAbs(inv.Dir) || !filepath.IsAbs(inv.Cwd):
		return fmt.Errorf("job %s: its folders must be absolute, got %q and %q", inv.Job, inv.Dir, inv.Cwd)
	case inv.Timeout <= 0:
		return fmt.Errorf("job %s: no timeout", inv.Job)
	}
	if inv.Sandbox != nil {
		if err := inv.Sandbox.Check(); err != nil {
			return fmt.Errorf("job %s: %w", inv.Job, err)
		}
	}
	return nil
}

func neverStarted(inv Invocation) Exit {
	now := time.Now().UTC()
	return Exit{
		SchemaVersion: 1, Job: inv.Job, Attempt: inv.Attempt, Stop: StopCancelled,
		StartedAt: now, EndedAt: now, Proof: Proof{Level: ProofNone, Gone: true, Left: []Process{}},
	}
}

func (s *Slot) begin() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running || !s.fit {
		return 0, errors.New("this supervisor is not free: its last process tree is not proven gone")
	}
	s.running, s.fit = true, false
	s.turn++
	return s.turn, nil
}

// dispatch sends the run frame, the locks' descriptors with its first bytes.
func (s *Slot) dispatch(turn int64, inv Invocation, locks []*os.File) error {
	frame, err := encodeFrame(message{Kind: kindRun, Turn: turn, Run: &inv, Locks: len(locks)})
	if err != nil {
		return err
	}
	limit := time.Now().Add(inv.Timeout + inv.Grace + overdue)
	if err := s.conn.SetDeadline(limit); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	if len(locks) > 0 {
		if n, err = s.sendWith(frame, locks); err != nil {
			return err
		}
	}
	_, err = s.conn.Write(frame[n:])
	return err
}

// sendWith sends at least the first byte of frame together with the descriptors of
// the locks.
func (s *Slot) sendWith(frame []byte, locks []*os.File) (n int, err error) {
	raw, err := s.conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var fds []int
	for _, lock := range locks {
		conn, err := lock.SyscallConn()
		if err != nil {
			return 0, err
		}
		if err := conn.Control(func(fd uintptr) { fds = append(fds, int(fd)) }); err != nil {
			return 0, err
		}
	}
	var sent error
	err = raw.Write(func(socket uintptr) bool {
		n, sent = unix.SendmsgN(int(socket), frame, unix.UnixRights(fds...), nil, sendFlags)
		return !errors.Is(sent, unix.EAGAIN) && !errors.Is(sent, unix.EINTR)
	})
	goruntime.KeepAlive(locks) // not to be closed by the collector before they are sent
	return n, errors.Join(err, sent)
}

// signal asks the supervisor to end the job of that turn. A failed write is no
// news: the reader of the same connection sees why.
func (s *Slot) signal(turn int64, kind string) {
	frame, err := encodeFrame(message{Kind: kind, Turn: turn})
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running && s.turn == turn {
		_, _ = s.conn.Write(frame)
	}
}

// await reads frames until the job has settled.
func (s *Slot) await(inv Invocation, started func(Process)) (Exit, error) {
	var child *Process
	for {
		m, err := s.receive()
		if err != nil {
			return Exit{}, s.lost(inv, child, err)
		}
		switch m.Kind {
		case kindStarted:
			child = m.Process
			if started != nil && child != nil {
				started(*child)
			}
		case kindSettled:
			var exit Exit
			if err := json.Unmarshal(m.Exit, &exit); err != nil {
				return Exit{}, s.lost(inv, child, err)
			}
			s.finish(exit.Proof.Gone)
			if m.Problem != "" {
				return exit, fmt.Errorf("job %s, attempt %d: evidence in %s is incomplete: %s", inv.Job, inv.Attempt, inv.Dir, m.Problem)
			}
			return exit, nil
		}
	}
}

func (s *Slot) finish(fit bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.fit = false, fit
}

// receive reads one frame.
func (s *Slot) receive() (message, error) {
	var head [4]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return message{}, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxFrame {
		return message{}, fmt.Errorf("a frame of %d bytes: it does not speak this protocol", size)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(s.in, body); err != nil {
		return message{}, err
	}
	var m message
	err := json.Unmarshal(body, &m)
	return m, err
}

// lost describes a supervisor that failed in the middle of a job.
func (s *Slot) lost(inv Invocation, child *Process, cause error) error {
	s.finish(false)
	known := "its program had not been reported as started"
	if child != nil {
		known = fmt.Sprintf("its program (pid %d, start time %d) may still run", child.PID, child.StartTime)
	}
	return fmt.Errorf("the supervisor (pid %d) of job %s, attempt %d, failed: %w; %s; what it wrote is in %s%s",
		s.PID(), inv.Job, inv.Attempt, cause, known, inv.Dir, s.lastWords())
}

// lastWords is what a supervisor that has ended left on stderr, for the end of an
// error; "" when it left nothing.
func (s *Slot) lastWords() string {
	if s.stderr == nil {
		return ""
	}
	head := make([]byte, 2048)
	n, err := s.stderr.ReadAt(head, 0)
	words := strings.TrimSpace(string(head[:n]))
	if err != nil && !errors.Is(err, io.EOF) || words == "" {
		return ""
	}
	return "; it said: " + words
}

// PID is the supervisor's process id.
func (s *Slot) PID() int { return s.cmd.Process.Pid }

// Idle reports whether the last tree is proven gone and another job may run here.
func (s *Slot) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fit && !s.running
}

// Kill is the second stage of stopping: the running program gets no more grace.
// It does nothing between jobs.
func (s *Slot) Kill() {
	s.mu.Lock()
	turn := s.turn
	s.mu.Unlock()
	s.signal(turn, kindKill)
}

// Destroy kills the supervisor process itself, which does not react any more. The Run
// under way then says that it failed.
func (s *Slot) Destroy() { _ = s.cmd.Process.Kill() } // it may have ended by itself

// Close lets the supervisor go and waits for its end. During a Run it does not
// wait: the supervisor finishes its job alone, as if the engine had died.
func (s *Slot) Close() error {
	s.mu.Lock()
	running := s.running
	s.mu.Unlock()
	if running {
		s.closeFiles()
		return s.cmd.Process.Release()
	}
	s.closeFiles()
	return s.wait()
}

// abandon ends a supervisor that never had a job.
func (s *Slot) abandon() {
	s.closeFiles()
	_ = s.cmd.Process.Kill() // it may have ended by itself
	_ = s.wait()             // its exit status after a kill says nothing
}

func (s *Slot) closeFiles() {
	s.conn.Close()
	if s.stderr != nil {
		s.stderr.Close()
	}
}

// wait reaps the process once.
func (s *Slot) wait() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waited {
		return nil
	}
	s.waited = true
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("the supervisor (pid %d) ended badly: %w", s.cmd.Process.Pid, err)
	}
	return nil
}
