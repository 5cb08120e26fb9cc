package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"
)

// brakes are what ends the work of this process before its time: an interrupt is a
// polite stop (the first), an end of the grace (the second) and an end of this
// process (the third). `orchestrate cancel` asks for one of the first two. An engine
// may also be told to leave: what runs goes on.
type brakes struct {
	sys    System
	work   context.Context
	kill   chan struct{}
	leave  chan struct{}
	quit   func(status int)       // ends this process
	run    atomic.Pointer[string] // id of the run, nil until it has begun
	polite func()                 // ends work

	// Only the goroutine that listens uses these.
	presses    presses
	interrupts int
	leaves     int
	stopping   bool
	killing    bool
}

// stoppable puts the brakes on signals. Where a signal to leave makes no sense it is
// an interrupt.
func stoppable(ctx context.Context, sys System) (b *brakes, done func()) {
	b = newBrakes(ctx, sys)
	return b, b.listen()
}

func newBrakes(ctx context.Context, sys System) *brakes {
	b := &brakes{sys: sys, kill: make(chan struct{}), leave: make(chan struct{}), quit: os.Exit}
	b.work, b.polite = context.WithCancel(ctx)
	if sys.engine != nil {
		b.quit = sys.engine.quit
	}
	return b
}

func (b *brakes) listen() (done func()) {
	var forwarded <-chan struct{}
	if b.sys.engine != nil {
		forwarded = b.sys.engine.control.Interrupts()
	}
	sig := make(chan os.Signal, 4)
	signal.Notify(sig, append(stops(), askStop, askKill)...)
	over := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-forwarded: // the viewer has counted, and tells of the third itself
				b.interrupt(func() {})
			case s := <-sig:
				b.signalled(s)
			}
		}
	})
	return func() {
		signal.Stop(sig)
		close(over)
		ended.Wait()
		b.polite()
	}
}

func (b *brakes) signalled(s os.Signal) {
	switch {
	case s == askStop:
		b.stop("stopping, as `orchestrate cancel` asks: what runs is asked to end")
	case s == askKill:
		b.end("killing what still runs, as `orchestrate cancel --kill` asks")
	case s != os.Interrupt && b.sys.engine != nil:
		b.goAway()
	case b.presses.again(time.Now()):
		b.interrupt(b.sayLeft)
	}
}

func (b *brakes) interrupt(last func()) {
	switch b.interrupts++; b.interrupts {
	case 1:
		if b.stopping {
			fmt.Fprintln(b.sys.Err, "what runs is being asked to end already (once more: it is killed)")
			return
		}
		b.stop("stopping: what runs is asked to end (once more: it is killed)")
	case 2:
		b.end("killing what still runs (once more: exit now)")
	default:
		last()
		b.quit(exitInterrupted)
	}
}

// stop is polite, end is not; either has been asked for once and for all.
func (b *brakes) stop(text string) {
	if !b.stopping {
		b.stopping = true
		fmt.Fprintln(b.sys.Err, text)
	}
	b.polite()
}

func (b *brakes) end(text string) {
	b.stopping = true
	b.polite()
	if !b.killing {
		b.killing = true
		fmt.Fprintln(b.sys.Err, text)
		close(b.kill)
	}
}

// goAway ends an engine without ending what runs. Before there is a run there is
// nothing to keep, and one that asks twice is not kept waiting.
func (b *brakes) goAway() {
	b.leaves++
	if b.run.Load() == nil {
		sayNothingBegun(b.sys)
		b.quit(exitInterrupted)
	}
	if b.leaves > 1 {
		b.quit(exitInterrupted)
	}
	close(b.leave)
}

// sayLeft tells of a run that is left before what runs has ended.
func (b *brakes) sayLeft() {
	if id := b.run.Load(); id != nil {
		sayLeft(b.sys, *id)
	} else {
		sayNothingBegun(b.sys)
	}
}

func sayLeft(sys System, id string) {
	fmt.Fprintf(sys.Err, "not waited for: jobs may still run under their supervisors; end them with `orchestrate cancel %s`, or go on with `orchestrate resume %s`\n", id, id)
}

func sayNothingBegun(sys System) { fmt.Fprintln(sys.Err, "interrupted: nothing was started") }

// onePress is how long interrupts are one and the same: `timeout -s INT` sends one to
// the program and another one to its process group.
const onePress = 50 * time.Millisecond

// presses tells the interrupts of a person apart from those of a program.
type presses struct{ last time.Time }

// again reports whether an interrupt at this time is one more.
func (p *presses) again(at time.Time) bool {
	more := p.last.IsZero() || at.Sub(p.last) >= onePress
	if more {
		p.last = at
	}
	return more
}
