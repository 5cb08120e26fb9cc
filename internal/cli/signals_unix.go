//go:build !windows

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// stops are the signals that end a run politely. A closed terminal is one, unless
// whoever started us (nohup) has it ignored.
func stops() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// The signals by which `orchestrate cancel` asks an engine to stop what runs, however
// often with the same effect; an interrupt counts how often it comes.
var (
	askStop os.Signal = syscall.SIGUSR1 // politely
	askKill os.Signal = syscall.SIGUSR2 // without grace
)

// surviveAsking makes what comes too late to stop anything, or too early, nothing.
func surviveAsking() { signal.Notify(make(chan os.Signal, 1), askStop, askKill) }

// surviveClosedPipes makes a reader that went away an error of the write instead of
// the end of this process: a run outlives `| head`. The signal is handled, not
// ignored, so that programs started by us still get it.
func surviveClosedPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
