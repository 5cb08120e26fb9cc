package cli

import (
	"os"
	"syscall"
)

// stops are the signals that end a run politely.
func stops() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// How `orchestrate cancel` would ask an engine to stop, which cannot be done here:
// sending them says so. No other signal has these numbers.
var (
	askStop os.Signal = syscall.Signal(0x101)
	askKill os.Signal = syscall.Signal(0x102)
)

// surviveAsking has nothing to do here.
func surviveAsking() {}

// surviveClosedPipes has nothing to do here: a closed pipe is an error of the write.
func surviveClosedPipes() {}
