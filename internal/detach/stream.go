package detach

import (
	"os"
	"sync"
	"time"
)

const (
	// backlog is how many bytes wait for a reader that is slow or stopped.
	backlog = 4 << 20
	// piece is what a pipe takes in one go, so that progress shows.
	piece = 4 << 10
	// patience is how long Close waits for a reader that takes nothing.
	patience = 5 * time.Second
)

// Stream writes to a pipe that somebody may or may not read. Writing never waits and
// never fails: the run must not depend on who looks at it. What goes beyond the
// backlog is dropped and told; what is written after the reader has gone is nothing.
type Stream struct {
	file     *os.File
	lost     func(bytes int64)
	patience time.Duration

	mu      sync.Mutex
	queue   []byte
	written int64
	dropped int64
	gone    bool          // the reader has
	closing bool          // no more will be written
	wake    chan struct{} // holds one: there is something to do
	moved   chan struct{} // holds one: the reader took something
	done    chan struct{} // closed when all is written, or nobody reads
}

// NewStream writes to file. lost is told how many bytes were dropped once there is
// room again, or at the end; it may write to another Stream.
func NewStream(file *os.File, lost func(bytes int64)) *Stream {
	s := &Stream{file: file, lost: lost, patience: patience, wake: make(chan struct{}, 1), moved: make(chan struct{}, 1), done: make(chan struct{})}
	go s.pump()
	return s
}

// Write queues p, whole or not at all.
func (s *Stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	var lost int64
	switch {
	case s.gone || s.closing:
	case len(s.queue)+len(p) > backlog:
		s.dropped += int64(len(p))
	default:
		lost, s.dropped = s.dropped, 0
		s.queue = append(s.queue, p...)
		s.written += int64(len(p))
	}
	s.mu.Unlock()
	notify(s.wake)
	if lost > 0 {
		s.lost(lost)
	}
	return len(p), nil
}

// Written is how many bytes a reader gets of all that was written until now.
func (s *Stream) Written() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written
}

// Close returns when what is queued has been read, nobody reads any more, or the
// reader has taken nothing for a while: then it is stopped, and what it would have
// been told is in the run directory.
func (s *Stream) Close() {
	s.mu.Lock()
	s.closing = true
	lost := s.dropped
	s.dropped = 0
	s.mu.Unlock()
	notify(s.wake)
	if lost > 0 {
		s.lost(lost)
	}
	for {
		select {
		case <-s.done:
			return
		case <-s.moved:
		case <-time.After(s.patience):
			return
		}
	}
}

// pump hands the queue to the pipe; it may wait there for ever.
func (s *Stream) pump() {
	defer close(s.done)
	for range s.wake {
		for {
			part, over := s.take()
			if over {
				return
			}
			if len(part) == 0 {
				break
			}
			if _, err := s.file.Write(part); err != nil {
				s.mu.Lock()
				s.gone, s.queue = true, nil
				s.mu.Unlock()
			}
			notify(s.moved)
		}
	}
}

// take is the next piece of the queue; over says that there will be none.
func (s *Stream) take() (part []byte, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(piece, len(s.queue))
	part, s.queue = s.queue[:n], s.queue[n:]
	if len(s.queue) == 0 {
		s.queue = nil // append must not write into what is being written
	}
	return part, n == 0 && s.closing
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
