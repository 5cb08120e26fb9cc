// Package process names one process so that no other can be taken for it: by pid,
// start time, boot and machine. It tells whether that process still lives and
// signals exactly it.
package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

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

// Self is the calling process.
func Self() Identity {
	id := here(os.Getpid())
	id.StartTime, _ = started(id.PID) // 0 where that cannot be learned
	return id
}

// Of is the process that has this pid now; false when none has, or a zombie.
func Of(pid int) (Identity, bool) {
	start, alive := started(pid)
	id := here(pid)
	id.StartTime = start
	return id, alive
}

// here is a process of this boot of this machine, its start time not yet known.
func here(pid int) Identity {
	host, err := os.Hostname()
	if err != nil {
		host = "" // it is for a person; the boot tells machines apart
	}
	return Identity{PID: pid, Boot: Boot(), Host: host}
}

// Fate says what became of the process.
func (id Identity) Fate() Fate {
	boot := Boot()
	switch {
	case id.PID <= 0, id.Foreign():
		return Unknown
	case id.Boot != "" && boot != "" && id.Boot != boot:
		return Gone // this machine has booted since
	}
	return fateOf(id.PID, id.StartTime)
}

// fateOf is the fate of a process of this boot.
func fateOf(pid int, start uint64) Fate {
	now, alive := started(pid)
	switch {
	case alive && start != 0 && now == start:
		return Alive
	case alive && start != 0 && now != 0, !alive && absent(pid):
		return Gone
	}
	return Unknown
}

// Foreign says that the process is another machine's, so that nothing can be
// learned of it here.
func (id Identity) Foreign() bool {
	own := here(0)
	return id.Host != own.Host && (id.Boot == "" || id.Boot != own.Boot)
}

// Signal signals exactly this process: ErrGone when it has ended, also when its
// pid is another's by now, and an error when it cannot be told from another.
func (id Identity) Signal(sig os.Signal) error {
	number, ok := sig.(syscall.Signal)
	if !ok {
		return fmt.Errorf("signal %v cannot be sent on this system", sig)
	}
	switch id.Fate() {
	case Gone:
		return ErrGone
	case Unknown:
		return fmt.Errorf("process %d of %s is not signalled: it cannot be told from another with that pid", id.PID, id.Host)
	}
	return Signal(id.PID, id.StartTime, number)
}
