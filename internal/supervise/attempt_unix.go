//go:build linux || darwin

package supervise

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"orchestrate/internal/capture"
	"orchestrate/internal/failpoint"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/untrusted"
)

// attempt is one job under way: its process tree, streams and clocks. One loop
// (loop_unix.go) owns all of it, so there is nothing to lock and no order of
// goroutines to get wrong.
type attempt struct {
	*server
	inv     *Invocation
	turn    int64
	held    *held
	log     *eventLog
	out     stream
	err     stream
	stdin   feeder
	denied  *denied         // nil if nothing holds the program
	decoder runtime.Decoder // nil if there is none, or after it has failed
	exit    Exit
	clocks
	undead  bool  // it could not be started, and what was begun is not proven gone
	problem error // evidence that could not be kept
	kept    bool  // exit.json is there
}

// run runs one job from its frame to its settled frame.
func (s *server) run(m message) {
	failpoint.Hit(failpoint.SuperviseFrame)
	a := &attempt{server: s, inv: m.Run, turn: m.Turn}
	a.out.fd, a.err.fd, a.stdin.fd = -1, -1, -1
	defer a.destroyOnPanic()
	a.now = time.Now()
	a.exit = Exit{SchemaVersion: 1, Job: a.inv.Job, Attempt: a.inv.Attempt, StartedAt: a.now.UTC()}
	if err := a.begin(m.Locks); err != nil {
		a.exit.SpawnError = err.Error()
		a.exit.Proof = Proof{Level: s.tree.level(), Gone: !a.undead}
	} else {
		a.loop()
	}
	data := a.finish()
	failpoint.Hit(failpoint.SuperviseExitFile)
	a.letGo()
	reply := message{Kind: kindSettled, Turn: a.turn, Exit: data}
	if a.problem != nil {
		reply.Problem = a.problem.Error()
	}
	s.control.send(reply)
}

// letGo gives the locks up. Only the end of the tree together with exit.json is an
// end that needs no further look.
func (a *attempt) letGo() {
	if a.kept && a.exit.Proof.Gone {
		a.note(a.held.over())
	}
	a.note(a.held.release())
}

// note keeps the first error about evidence; the job goes on without it.
func (a *attempt) note(err error) {
	if a.problem == nil {
		a.problem = err
	}
}

// destroyOnPanic ends the tree before the supervisor dies of its own fault.
func (a *attempt) destroyOnPanic() {
	if fault := recover(); fault != nil {
		a.tree.destroy()
		panic(fault)
	}
}

// begin opens the evidence, starts the program and says so.
func (a *attempt) begin(locks int) (err error) {
	if a.held, err = a.hold(locks); err != nil {
		return err
	}
	if err := a.openEvidence(); err != nil {
		return err
	}
	if err := a.openDecoder(); err != nil {
		return err
	}
	child, err := a.spawn()
	if err != nil {
		return err
	}
	a.exit.PID = child.PID
	a.startClocks(a.inv)
	a.stdin.write()
	a.log.add(runtime.Event{Kind: runtime.EventStarted, PID: child.PID, StartTime: child.StartTime}, a.now)
	a.log.flush() // whoever looks after a crash finds it
	a.control.send(message{Kind: kindStarted, Turn: a.turn, Process: &child})
	return nil
}

func (a *attempt) openEvidence() (err error) {
	red := a.redactor(a.inv)
	if a.log, err = newEventLog(filepath.Join(a.inv.Dir, "events.jsonl"), red); err != nil {
		return fmt.Errorf("cannot keep evidence: %w", err)
	}
	if a.out.file, err = capture.Create(filepath.Join(a.inv.Dir, "stdout.txt"), a.inv.MaxBytes, red); err != nil {
		return fmt.Errorf("cannot keep evidence: %w", err)
	}
	if a.err.file, err = capture.Create(filepath.Join(a.inv.Dir, "stderr.txt"), a.inv.MaxBytes, red); err != nil {
		return fmt.Errorf("cannot keep evidence: %w", err)
	}
	return nil
}

func (a *attempt) openDecoder() error {
	decoder, err := a.opt.Decoders(a.inv.Decoder)
	if err != nil || decoder == nil {
		return err
	}
	a.decoder = decoder
	if blind, ok := decoder.(lineBlind); ok && blind.LineBlind() {
		return nil
	}
	a.out.lines = capture.NewLines(maxLine, func(line []byte) { a.record(decoder.Stdout(line)) }, a.oversize)
	a.err.lines = capture.NewLines(maxLine, func(line []byte) { a.record(decoder.Stderr(line)) }, a.oversize)
	if p, ok := decoder.(runtime.Piecemeal); ok {
		for _, s := range []*stream{&a.out, &a.err} {
			s.sieve = capture.NewSieve(maxLine, func(text []byte) { a.keep(s, text) }, func(line []byte) bool { return a.isPiece(p, line) })
		}
	}
	return nil
}

// isPiece asks a decoder about a line. One that it fails on is left out.
func (a *attempt) isPiece(p runtime.Piecemeal, line []byte) bool {
	is := true
	func() {
		defer a.survive()
		is = p.Piece(line)
	}()
	return is
}

// maxLine is the longest line a decoder is shown.
const maxLine = 4 << 20

func (a *attempt) record(events []runtime.Event) {
	for _, e := range events {
		a.log.add(e, a.now)
	}
}

func (a *attempt) oversize(n int64) {
	a.log.add(runtime.Event{Kind: runtime.EventOversize, Bytes: n}, a.now)
}

// command is what is started in place of, or as, the program.
type command struct {
	name  string // of the program, for a person
	path  string
	argv  []string
	files []uintptr // its descriptors, from 0
}

// spawn makes the pipes and starts the program in a session of its own.
func (a *attempt) spawn() (Process, error) {
	var theirs [3]int
	defer func() { // the program has its copies
		for _, fd := range theirs {
			if fd > 0 && fd != a.null {
				closeFD(fd)
			}
		}
	}()
	if err := a.openPipes(&theirs); err != nil {
		return Process{}, fmt.Errorf("cannot make the program's pipes: %w", err)
	}
	path, err := lookPath(a.inv.Argv[0], a.inv.Env)
	if err != nil {
		return Process{}, err
	}
	c := command{name: path, path: path, argv: a.inv.Argv, files: []uintptr{uintptr(theirs[0]), uintptr(theirs[1]), uintptr(theirs[2])}}
	if a.inv.Sandbox == nil {
		return a.launch(c)
	}
	return a.launchConfined(c)
}

// launch starts the program and says in the attempt's lock which process it is.
func (a *attempt) launch(c command) (Process, error) {
	if err := a.held.mine(a.tree.ready()); err != nil {
		return Process{}, err
	}
	failpoint.Hit(failpoint.SuperviseHeld)
	child, err := a.fork(c)
	if err == nil {
		failpoint.Hit(failpoint.SuperviseForked)
		a.note(a.held.started(child))
		failpoint.Hit(failpoint.SuperviseStarted)
		return child, nil
	}
	if _, missing := os.Stat(a.inv.Cwd); missing != nil {
		return Process{}, fmt.Errorf("cannot start %s in %s: %w", c.name, a.inv.Cwd, missing)
	}
	return Process{}, fmt.Errorf("cannot start %s: %w", c.name, err)
}

// launchConfined starts the program by way of a child that confines itself first. When
// that could not be done nothing of it is left.
func (a *attempt) launchConfined(c command) (Process, error) {
	b, err := openBox(*a.inv.Sandbox)
	if err != nil {
		return Process{}, fmt.Errorf("cannot start %s in the sandbox: %w", c.name, err)
	}
	defer b.close()
	child, err := a.launch(b.wrap(c))
	if err != nil {
		return Process{}, err
	}
	if err := b.await(); err != nil {
		a.undead = !a.tree.destroy()
		return Process{}, fmt.Errorf("cannot start %s in the sandbox: %w", c.name, err)
	}
	a.exit.Sandbox = &sandbox.Applied{Mechanism: sandbox.Landlock, ABI: sandbox.ABI()}
	a.denied = newDenied(redactWith(a.redactor(a.inv)), func(text string) {
		a.log.add(runtime.Event{Kind: runtime.EventBoundary, Text: untrusted.From(text)}, a.now)
	})
	return child, nil
}

// fork starts the program in the cgroup, if there is one. When that fails the
// program may be at fault, or the cgroup: a second try without it tells.
func (a *attempt) fork(c command) (Process, error) {
	child, err := a.tree.spawn(c, a.inv)
	if err == nil || !a.tree.grouped {
		return child, err
	}
	if err := a.held.mine(""); err != nil {
		return Process{}, err
	}
	return a.tree.spawnAlone(c, a.inv)
}

func (a *attempt) openPipes(theirs *[3]int) (err error) {
	theirs[0] = a.null
	if a.inv.Stdin != nil {
		if theirs[0], a.stdin.fd, err = pipe(); err != nil {
			return err
		}
		a.stdin.rest = a.inv.Stdin
		if err = unix.SetNonblock(a.stdin.fd, true); err != nil {
			return err
		}
	}
	for i, s := range []*stream{&a.out, &a.err} {
		if s.fd, theirs[i+1], err = pipe(); err != nil {
			return err
		}
		if err = unix.SetNonblock(s.fd, true); err != nil {
			return err
		}
	}
	return nil
}

// finish puts everything on disk, exit.json last, and returns its bytes.
func (a *attempt) finish() []byte {
	a.stdin.close()
	a.drain(&a.out)
	a.drain(&a.err)
	a.closeLines()
	a.exit.Truncated.Stdout = a.closeFile(&a.out)
	a.exit.Truncated.Stderr = a.closeFile(&a.err)
	a.describeEnd()
	a.closeLog()
	failpoint.Hit(failpoint.SuperviseEnded)
	data, err := writeExit(a.inv.Dir, a.exit)
	if err != nil {
		a.note(fmt.Errorf("exit.json: %w", err))
	}
	a.kept = err == nil
	return data
}

// drain takes what a dead tree left in its pipe and never waits for more: a
// stranger may hold the other end.
func (a *attempt) drain(s *stream) {
	for taken := 0; s.fd >= 0 && taken < drainLimit; {
		chunk := s.read(&a.buf)
		if chunk == nil {
			break
		}
		taken += len(chunk)
		a.take(s, chunk)
	}
	s.closeRead()
}

func (a *attempt) closeLines() {
	defer a.survive()
	if a.out.lines != nil {
		a.out.lines.Close()
	}
	if a.err.lines != nil {
		a.err.lines.Close()
	}
	if u, ok := a.decoder.(runtime.Unfinished); ok {
		a.record(u.Unfinished())
	}
}

func (a *attempt) closeFile(s *stream) (dropped int64) {
	if s.file == nil {
		return 0
	}
	if s.sieve != nil {
		s.sieve.Close()
	}
	dropped, err := s.file.Close()
	if err != nil {
		a.note(fmt.Errorf("captured output is incomplete: %w", err))
	}
	return dropped
}

func (a *attempt) describeEnd() {
	redact := redactWith(a.redactor(a.inv))
	a.exit.SpawnError = redact(a.exit.SpawnError)
	a.exit.Outcome = redactOutcome(a.outcome(), redact)
	a.exit.EndedAt = a.now.UTC()
	a.exit.DurationMs = a.exit.EndedAt.Sub(a.exit.StartedAt).Milliseconds()
	if a.exit.Proof.Left == nil {
		a.exit.Proof.Left = []Process{}
	}
}

func (a *attempt) closeLog() {
	if a.log == nil {
		return
	}
	if a.log.dropped > 0 {
		a.log.add(runtime.Event{Kind: runtime.EventDropped, Bytes: a.log.dropped}, a.now)
	}
	a.log.add(runtime.Event{Kind: runtime.EventExited, PID: a.exit.PID, Text: untrusted.From(a.exit.how())}, a.now)
	a.exit.Events = a.log.seq
	if err := a.log.close(); err != nil {
		a.note(fmt.Errorf("events.jsonl is incomplete: %w", err))
	}
}

// take captures a chunk and shows it to the decoder.
func (a *attempt) take(s *stream, chunk []byte) {
	a.dirtyAt(a.now)
	if s.sieve == nil {
		a.keep(s, chunk)
	} else if _, err := s.sieve.Write(chunk); err != nil {
		a.note(fmt.Errorf("captured output is incomplete: %w", err))
	}
	a.feed(s, chunk)
}

// keep captures what of a stream is to be seen.
func (a *attempt) keep(s *stream, text []byte) {
	if _, err := s.file.Write(text); err != nil {
		a.note(fmt.Errorf("captured output is incomplete: %w", err))
	}
	if a.denied != nil {
		s.spotter.look(text, a.denied)
	}
}

func (a *attempt) feed(s *stream, chunk []byte) {
	if s.lines == nil || a.decoder == nil {
		return
	}
	defer a.survive()
	if _, err := s.lines.Write(chunk); err != nil {
		a.note(fmt.Errorf("decoding: %w", err))
	}
	if why, ok := a.decoder.Settle(); ok {
		a.stop(StopSettled, "the runtime reported "+string(why))
	}
}

// errDecoder is the cause of a decoder's failure on what a runtime said. Text from
// a runtime must never take the owner of its processes down.
var errDecoder = errors.New("the decoder failed on this runtime's output")

// survive drops a decoder that panicked; the attempt then has no completion event.
func (a *attempt) survive() {
	if fault := recover(); fault != nil {
		a.decoder, a.out.lines, a.err.lines = nil, nil, nil
		a.log.add(runtime.Event{Kind: runtime.EventWarning, Text: untrusted.Sprintf("%v: %v", errDecoder, fault)}, a.now)
		a.note(fmt.Errorf("%w: %v", errDecoder, fault))
	}
}

func (a *attempt) outcome() (o runtime.Outcome) {
	if a.decoder == nil {
		return o
	}
	defer a.survive()
	o = a.decoder.Outcome()
	if o.Answer.Len() > runtime.SaidLimit { // exit.json goes through one frame
		o.Answer = o.Answer.Through(func(s string) string { return strings.ToValidUTF8(s[:runtime.SaidLimit], "") })
	}
	return o
}

// ended fills in how the program ended.
func (e *Exit) ended(status unix.WaitStatus) {
	if status.Signaled() {
		e.Signal = unix.SignalName(status.Signal())
		return
	}
	code := status.ExitStatus()
	e.ExitCode = &code
}
