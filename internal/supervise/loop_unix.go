//go:build linux || darwin

package supervise

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"orchestrate/internal/failpoint"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

const (
	// linger is how long descendants may go on after their program has ended by
	// itself: enough for a `tee` to write its last line, not for a server.
	linger = 200 * time.Millisecond
	// settledGrace replaces a longer grace when the decoder saw that the attempt
	// is hopeless: nothing of worth is being finished.
	settledGrace = 2 * time.Second
	// proofLimit is how long after the first SIGKILL the tree may still be there
	// before the supervisor says that it cannot be proven gone.
	proofLimit = 10 * time.Second

	flushEvery = 250 * time.Millisecond
	firstScan  = 50 * time.Millisecond
	slowScan   = time.Second
	firstLook  = time.Millisecond
	slowLook   = 50 * time.Millisecond
)

// clocks are the moments at which a job's loop has something to do. A zero moment
// never comes.
type clocks struct {
	now         time.Time // of this turn of the loop
	timeout     time.Time
	firstOutput time.Time
	killAt      time.Time // SIGKILL to everything from here on
	giveUpAt    time.Time // set by the first SIGKILL
	flushAt     time.Time
	scanAt      time.Time // record new descendants
	lookAt      time.Time // ask whether the tree is gone
	scanEvery   time.Duration
	lookEvery   time.Duration
	lingering   bool // the program has ended, something of it has not
}

func (c *clocks) startClocks(inv *Invocation) {
	c.now = time.Now()
	c.timeout = c.now.Add(inv.Timeout)
	if inv.FirstOutput > 0 {
		c.firstOutput = c.now.Add(inv.FirstOutput)
	}
	c.scanEvery, c.lookEvery = firstScan, firstLook
	c.scanAt = c.now.Add(firstScan)
}

// dirtyAt makes sure that what was captured at this moment is flushed in time.
func (c *clocks) dirtyAt(now time.Time) {
	if c.flushAt.IsZero() {
		c.flushAt = now.Add(flushEvery)
	}
}

// pollTimeout is the time in milliseconds until the first moment, rounded up.
func (c *clocks) pollTimeout() int {
	killAt := c.killAt
	if !c.giveUpAt.IsZero() {
		killAt = time.Time{} // killing has begun, lookAt repeats it
	}
	first := c.now.Add(time.Hour)
	for _, t := range [...]time.Time{c.timeout, c.firstOutput, killAt, c.flushAt, c.scanAt, c.lookAt} {
		if !t.IsZero() && t.Before(first) {
			first = t
		}
	}
	wait := first.Sub(c.now)
	if wait <= 0 {
		return 0
	}
	return int(min((wait+time.Millisecond-1)/time.Millisecond, 1<<30))
}

func (c *clocks) due(t time.Time) bool { return !t.IsZero() && !c.now.Before(t) }

// Indexes of the descriptors that the loop waits for.
const (
	onControl = iota
	onWake
	onChild
	onOut
	onErr
	onStdin
	watched
)

// loop runs the job until its tree is proven gone, or the proof has failed.
func (a *attempt) loop() {
	var fds [watched]unix.PollFd
	for !a.tick() {
		a.watch(&fds)
		_, err := unix.Poll(fds[:], a.pollTimeout())
		a.now = time.Now()
		if err != nil {
			if !errors.Is(err, unix.EINTR) {
				panic(fmt.Errorf("poll: %w", err)) // cannot go on; the tree is ended first
			}
			continue
		}
		a.handle(&fds)
	}
	a.exit.Proof.Level = a.tree.level()
	a.tree.describe(&a.exit)
}

// watch fills in what to wait for; poll passes over negative descriptors.
func (a *attempt) watch(fds *[watched]unix.PollFd) {
	control := a.control.fd
	if a.control.gone {
		control = -1
	}
	fds[onControl] = unix.PollFd{Fd: int32(control), Events: unix.POLLIN}
	fds[onWake] = unix.PollFd{Fd: int32(a.wake), Events: unix.POLLIN}
	fds[onChild] = unix.PollFd{Fd: int32(a.tree.childFD()), Events: unix.POLLIN}
	fds[onOut] = unix.PollFd{Fd: int32(a.out.fd), Events: unix.POLLIN}
	fds[onErr] = unix.PollFd{Fd: int32(a.err.fd), Events: unix.POLLIN}
	fds[onStdin] = unix.PollFd{Fd: int32(a.stdin.fd), Events: unix.POLLOUT}
}

func (a *attempt) handle(fds *[watched]unix.PollFd) {
	if fds[onOut].Revents != 0 {
		a.read(&a.out)
	}
	if fds[onErr].Revents != 0 {
		a.read(&a.err)
	}
	if fds[onStdin].Revents != 0 {
		a.stdin.write()
	}
	if fds[onControl].Revents != 0 {
		a.listen()
	}
	if fds[onChild].Revents != 0 {
		a.lookAt = a.now
	}
	if fds[onWake].Revents != 0 {
		var woken [8]byte
		_, _ = unix.Read(a.wake, woken[:]) // what it was woken for is counted already
	}
}

func (a *attempt) read(s *stream) {
	chunk := s.read(&a.buf)
	if chunk == nil {
		return
	}
	a.firstOutput = time.Time{}
	a.take(s, chunk)
	failpoint.Hit(failpoint.SuperviseOutput)
}

// listen takes orders of the engine. Its end is none: the job is finished alone.
func (a *attempt) listen() {
	if err := a.control.receive(); err != nil {
		a.control.gone = true
	}
	for {
		m, ok, err := a.control.in.next()
		if err != nil || (ok && m.Kind == kindRun) {
			a.control.gone = true // not our engine's language: deaf from here on
		}
		if err != nil || !ok {
			return
		}
		switch {
		case m.Turn != a.turn: // for a job that has ended already
		case m.Kind == kindCancel:
			a.stop(StopCancelled, "cancelled")
		case m.Kind == kindKill:
			a.stop(StopCancelled, "cancelled")
			a.killAt = a.now
		}
	}
}

// tick does what is due and reports whether the job is over.
func (a *attempt) tick() (over bool) {
	if times := a.told.Load(); times > 0 {
		a.stop(StopCancelled, "the supervisor was told to end")
		if times > 1 {
			a.killAt = a.now
		}
	}
	if a.due(a.timeout) {
		a.timeout = time.Time{}
		a.stop(StopTimeout, fmt.Sprintf("the timeout of %v is over", a.inv.Timeout))
	}
	if a.due(a.firstOutput) {
		a.firstOutput = time.Time{}
		a.stop(StopFirstOutput, fmt.Sprintf("no output within %v", a.inv.FirstOutput))
	}
	if a.due(a.flushAt) {
		a.flush()
	}
	if a.due(a.scanAt) {
		a.scan()
	}
	if a.due(a.lookAt) || (a.due(a.killAt) && a.giveUpAt.IsZero()) {
		return a.look()
	}
	if a.lookAt.IsZero() && a.tree.childFD() < 0 {
		a.lookAgain() // nothing tells us of the program's end: ask
	}
	return false
}

// stop begins to end the program for the given reason, unless that has begun.
// What a program that has ended by itself left behind is killed at once.
func (a *attempt) stop(why Stop, because string) {
	if a.exit.Stop != StopNone {
		return
	}
	if a.tree.ended() {
		a.killAt = a.now
		return
	}
	a.exit.Stop = why
	grace := a.inv.Grace
	if why == StopSettled {
		grace = min(grace, settledGrace)
	}
	sig, group := politeSignal(a.inv.PoliteStop)
	if sig == 0 || grace <= 0 {
		a.killAt = a.now
		return
	}
	a.tree.signal(sig, group)
	a.killAt = a.now.Add(grace)
	a.say(fmt.Sprintf("%s: %s; SIGKILL in %v", unix.SignalName(sig), because, grace))
}

// politeSignal translates Invocation.PoliteStop; 0 is none.
func politeSignal(name string) (sig unix.Signal, group bool) {
	switch name {
	case "INT":
		return unix.SIGINT, false
	case "TERM":
		return unix.SIGTERM, false
	case "TERM-GROUP":
		return unix.SIGTERM, true
	}
	return 0, false
}

func (a *attempt) say(text string) {
	a.log.add(runtime.Event{Kind: runtime.EventSignal, Text: untrusted.From(text)}, a.now)
	a.dirtyAt(a.now)
}

// look reaps, kills what must be killed and asks whether anything is left.
func (a *attempt) look() (over bool) {
	if !a.tree.alive() {
		a.exit.Proof.Gone = true
		return true
	}
	if a.tree.ended() {
		a.limitLinger()
	}
	if a.due(a.killAt) {
		a.kill()
		if a.due(a.giveUpAt) {
			a.exit.Proof.Left = a.tree.left()
			return true
		}
	}
	if a.tree.ended() || !a.giveUpAt.IsZero() || a.tree.childFD() < 0 {
		a.lookAgain()
	} else {
		a.lookAt = time.Time{}
	}
	return false
}

// limitLinger gives what is left a short while after the program's end. Only a
// polite signal to the whole group leaves it the rest of the grace, because then
// the real agent may be a process behind a launcher that is gone already.
func (a *attempt) limitLinger() {
	if a.lingering {
		return
	}
	a.lingering, a.lookEvery = true, firstLook
	_, group := politeSignal(a.inv.PoliteStop)
	if a.exit.Stop != StopNone && group {
		return
	}
	if end := a.now.Add(linger); a.killAt.IsZero() || end.Before(a.killAt) {
		a.killAt = end
	}
}

// kill ends everything that descends from the job; it is repeated until nothing
// is left, because a process can fork while it is being looked for.
func (a *attempt) kill() {
	if a.giveUpAt.IsZero() {
		a.giveUpAt, a.lookEvery = a.now.Add(proofLimit), firstLook
		a.say("SIGKILL to every process of the job")
	}
	a.tree.sweep()
}

func (a *attempt) lookAgain() {
	a.lookAt = a.now.Add(a.lookEvery)
	a.lookEvery = min(2*a.lookEvery, slowLook)
}

func (a *attempt) flush() {
	a.flushAt = time.Time{}
	a.log.flush()
	for _, s := range []*stream{&a.out, &a.err} {
		if !s.dirty {
			continue
		}
		s.dirty = false
		if err := s.file.Flush(); err != nil {
			a.note(fmt.Errorf("captured output is incomplete: %w", err))
		}
	}
}

// scan records descendants not seen before, more and more seldom.
func (a *attempt) scan() {
	a.tree.scan(func(p Process) {
		a.log.add(runtime.Event{Kind: runtime.EventProcess, PID: p.PID, StartTime: p.StartTime}, a.now)
		a.dirtyAt(a.now)
	})
	a.scanAt = a.now.Add(a.scanEvery)
	a.scanEvery = min(2*a.scanEvery, slowScan)
}
