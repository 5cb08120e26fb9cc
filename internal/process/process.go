// Package process names one process so that no other can be taken for it: by pid,
// start time, boot and machine. It tells whether that process still lives and
// signals exactly it.
package process

import "errors"

// ErrGone says that the process has ended.
var ErrGone = errors.New("the process has ended")

// Identity is one process of one boot of one machine.
type Identity struct {
	PID       int    `json:"pid"`
	StartTime uint64 `json:"startTime"` // on Linux clock ticks since boot, on macOS microseconds since 1970; 0 = unknown
	Boot      string `json:"boot"`      // id of the machine's boot, "" = unknown
	Host      string `json:"host"`      // host name, for a person and where boots differ
}

// Fate says what became of a process.
type Fate string

// What can be known of a process.
const (
	Alive   Fate = "alive"
	Gone    Fate = "gone"    // it has ended, or its machine has booted again; a zombie is gone
	Unknown Fate = "unknown" // another machine's, or its start time is not known while its pid is in use
)
