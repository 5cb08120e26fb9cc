package sandbox

import (
	"fmt"
	"os"
)

// Hidden first arguments of the supervisor's program, which starts itself with them.
const (
	// Command confines the process and then makes it another program:
	//
	//	confine PATH ARGV0 ARGS…
	//
	// The policy is read from descriptor PolicyFD, as JSON; trouble is written to
	// TroubleFD, which ends with the one byte Confined when there was none. The program
	// gets neither.
	Command = "confine"
	// TrialCommand is the confined child of the self-test; see Trial.
	TrialCommand = "confine-test"
)

// Descriptors of a process that is to confine itself.
const (
	PolicyFD  = 3
	TroubleFD = 4
)

// Confined is what is written to TroubleFD by a process that has confined itself, right
// before it becomes the program.
const Confined = '.'

// Hidden reports whether name is one of this package's commands.
func Hidden(name string) bool { return name == Command || name == TrialCommand }

// Main carries out the hidden command args[0] with its arguments and returns the exit
// status. Command returns only when the program could not be started.
func Main(args []string) int {
	if args[0] == TrialCommand {
		return trial(args[1:], os.Stdout)
	}
	if len(args) < 3 {
		fmt.Fprintln(os.Stderr, "orchestrate: confine is started by a supervisor, not by hand")
		return 2
	}
	return confine(args[1], args[2:])
}
