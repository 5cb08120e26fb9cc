//go:build linux

package campaign

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Victim is who is killed.
type Victim string

// The victims. Supervisor is the one that has stopped, else any one.
const (
	EngineOnly Victim = "engine"
	Supervisor Victim = "supervisor"
	Both       Victim = "both" // the engine and every supervisor; programs go on
	Tree       Victim = "tree" // the engine, the supervisors and all programs
)

// Victims are all of them.
var Victims = []Victim{EngineOnly, Supervisor, Both, Tree}

// victims are the living processes of a run that are to be killed, the engine
// first, so that it sees nobody die. at is the one that has stopped, if any.
func (v Victim) victims(dir string, at *Proc) (all []Proc) {
	engine, owned := Engine(dir)
	if !owned && at != nil && !at.Supervisor() {
		engine, owned = *at, true // it has no run directory yet, or no lock
	}
	if owned && v != Supervisor {
		all = append(all, engine)
	}
	below := Below(os.Getpid())
	bosses := slices.DeleteFunc(slices.Clone(below), func(p Proc) bool { return !p.Supervisor() })
	switch v {
	case EngineOnly:
	case Supervisor:
		if at != nil && at.Supervisor() {
			return append(all, *at)
		}
		all = append(all, bosses[:min(1, len(bosses))]...)
	case Both:
		all = append(all, bosses...)
	case Tree:
		all = append(all, bosses...)
		for _, p := range below {
			if !slices.ContainsFunc(all, func(a Proc) bool { return a.PID == p.PID }) && !viewer(p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// viewer reports whether it is a command that the round itself has started.
func viewer(p Proc) bool { return p.Parent == os.Getpid() && len(p.Args) > 1 && ours[p.Args[1]] }

var ours = map[string]bool{"run": true, "resume": true}

// kill kills them and says whom it found alive.
func kill(all []Proc) (killed []int) {
	for _, p := range all {
		if p.signal(unix.SIGKILL) {
			killed = append(killed, p.PID)
		}
	}
	return killed
}
