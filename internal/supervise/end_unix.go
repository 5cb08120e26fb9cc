//go:build linux || darwin

package supervise

import (
	"context"
	"fmt"
	"time"

	"orchestrate/internal/process"
)

// search looks for what is left of one tree and ends it.
type search interface {
	// look ends what it finds. left is what was there; found says whether that, or
	// anything that has no name, was there at all.
	look() (left []Process, found bool, err error)
	level() ProofLevel
	close()
}

// End ends what is left of a tree whose supervisor died, and proves it: two looks in
// a row that find nothing. It touches no process that is not shown to belong to the
// tree, and gives up after ten seconds, or with ctx; then the proof names what is
// left. The supervisor itself must be dead, which End waits for but does not bring
// about.
func End(ctx context.Context, r Remains) (Proof, error) {
	proof, elsewhere, err := r.elsewhere()
	if elsewhere {
		return proof, err
	}
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	if !awaitDeath(ctx, r.Supervisor) {
		return proof, fmt.Errorf("the supervisor (pid %d) may still be alive: end it, then resume", r.Supervisor.PID)
	}
	s := newSearch(r)
	defer s.close()
	for quiet := 0; quiet < 2; {
		left, found, err := s.look()
		proof.Level = s.level()
		if err != nil {
			return proof, fmt.Errorf("looking for what the supervisor (pid %d) left behind: %w", r.Supervisor.PID, err)
		}
		quiet++
		if found {
			quiet, proof.Left = 0, left
		}
		if quiet < 2 && !pause(ctx, endLook) {
			return proof, notEnded(r, proof)
		}
	}
	proof.Gone, proof.Left = true, []Process{}
	return proof, nil
}

func notEnded(r Remains, proof Proof) error {
	if len(proof.Left) == 0 {
		return fmt.Errorf("what the supervisor (pid %d) left behind is not proven to have ended", r.Supervisor.PID)
	}
	pids := ""
	for _, p := range proof.Left {
		pids += fmt.Sprintf(" %d", p.PID)
	}
	return fmt.Errorf("what the supervisor (pid %d) left behind has not ended: look at process%s", r.Supervisor.PID, pids)
}

// awaitDeath waits while the process lives. Only a signal that is on its way makes
// that worth while.
func awaitDeath(ctx context.Context, id process.Identity) bool {
	for id.PID != 0 && id.Fate() != process.Gone {
		if id.Fate() == process.Unknown || !pause(ctx, endLook) {
			return false
		}
	}
	return true
}

// pause waits; false when ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
