package ledger

import (
	"bytes"
	"fmt"
	"time"
)

// The snapshot may trail a live run by the larger of these: a fixed interval,
// and so many times what the last one cost that writing it stays below a
// twentieth of one core, whatever the number of jobs.
const (
	snapshotInterval = 250 * time.Millisecond
	snapshotCost     = 20
)

// snapshotter writes snapshots in a goroutine of its own.
type snapshotter struct {
	dirty chan struct{} // holds one token when something changed since the last write began
	quit  chan struct{}
	done  chan struct{}
}

func startSnapshots(write func() error) *snapshotter {
	s := &snapshotter{
		dirty: make(chan struct{}, 1),
		quit:  make(chan struct{}),
		done:  make(chan struct{}),
	}
	go s.loop(write)
	return s
}

// wake says that the state has changed.
func (s *snapshotter) wake() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// stop returns when no snapshot will be written any more.
func (s *snapshotter) stop() {
	close(s.quit)
	<-s.done
}

// loop drops a write's error on purpose: a snapshot is a convenience, the next
// one or Close says whether the disk is still bad, and the journal stops the run
// by itself when it cannot be written.
func (s *snapshotter) loop(write func() error) {
	defer close(s.done)
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-pause.C:
		}
		select {
		case <-s.quit:
			return
		case <-s.dirty:
		}
		began := time.Now()
		if err := write(); err != nil {
			s.wake()
		}
		pause.Reset(max(snapshotInterval, snapshotCost*time.Since(began)))
	}
}

// writeSnapshot replaces state.json. The journal is made durable first, so that the
// snapshot never knows more than the journal beside it, after a power loss neither.
func (r *Run) writeSnapshot() error {
	state := r.State()
	if state.Seq == 0 {
		return nil
	}
	if err := r.journal.commit(state.Seq); err != nil {
		return err
	}
	var buf bytes.Buffer
	if err := state.encode(&buf); err != nil {
		return fmt.Errorf("%s: %w", StateFile, err)
	}
	return r.WriteFile(StateFile, buf.Bytes())
}
