package cli

import (
	"os"
	"syscall"
)

// stops are the signals that end a run politely.
func stops() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// How `orchestrate cancel` would ask an engine to stop, which cannot be done here:
// sending them says so.
var (
	askStop os.Signal = syscall.SIGTERM
	askKill os.Signal = syscall.SIGKILL
)

// surviveAsking has nothing to do here.
func surviveAsking() {}

// surviveClosedPipes has nothing to do here: a closed pipe is an error of the write.
func surviveClosedPipes() {}
