package cli

import (
	"os"
	"syscall"
)

// stops are the signals that end a run politely.
func stops() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// surviveClosedPipes has nothing to do here: a closed pipe is an error of the write.
func surviveClosedPipes() {}
