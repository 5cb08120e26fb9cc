package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
)

// brakes are what ends the work of this process before its time: an interrupt is a
// polite stop (the first), an end of the grace (the second) and an end of this
// process (the third). An engine may also be told to leave: what runs goes on.
type brakes struct {
	work  context.Context
	kill  chan struct{}
	leave chan struct{}
	quit  func(status int) // ends this process
}

// stoppable puts the brakes on signals. Where a signal to leave makes no sense it is
// an interrupt.
func stoppable(ctx context.Context, sys System) (b *brakes, done func()) {
	work, cancel := context.WithCancel(ctx)
	b = &brakes{work: work, kill: make(chan struct{}), leave: make(chan struct{}), quit: os.Exit}
	var forwarded <-chan struct{}
	if sys.engine != nil {
		b.quit, forwarded = sys.engine.quit, sys.engine.control.Interrupts()
	}
	sig := make(chan os.Signal, 4)
	signal.Notify(sig, stops()...)
	over := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		for interrupts, leaves := 0, 0; ; {
			select {
			case <-over:
				return
			case <-forwarded:
			case s := <-sig:
				if s != os.Interrupt && sys.engine != nil {
					leaves++
					b.goAway(sys, leaves)
					continue
				}
			}
			interrupts++
			b.interrupt(sys, interrupts, cancel)
		}
	})
	return b, func() {
		signal.Stop(sig)
		close(over)
		ended.Wait()
		cancel()
	}
}

func (b *brakes) interrupt(sys System, n int, polite func()) {
	switch n {
	case 1:
		fmt.Fprintln(sys.Err, "stopping: what runs is asked to end (once more: it is killed)")
		polite()
	case 2:
		fmt.Fprintln(sys.Err, "killing what still runs (once more: exit now)")
		close(b.kill)
	default:
		b.quit(exitInterrupted)
	}
}

// goAway ends an engine without ending what runs. Before there is a run there is
// nothing to keep, and one that asks twice is not kept waiting.
func (b *brakes) goAway(sys System, n int) {
	if n > 1 || !sys.engine.begun.Load() {
		b.quit(exitInterrupted)
	}
	close(b.leave)
}
