//go:build linux

package campaign

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// pause is how long a look at files or processes waits for the next.
const pause = 2 * time.Millisecond

// stop is a process that has stopped at the chosen failpoint.
type stop struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
}

// stops watches the folder in which failpoints say that they were reached.
type stops struct {
	dir  string
	seen map[string]bool
}

// next waits for a stop that was not given before and for its process to stand
// still. false when done is closed first.
func (s *stops) next(done <-chan struct{}) (stop, Proc, bool) {
	for {
		for _, at := range s.fresh() {
			if p, ok := standing(at.PID, done); ok {
				return at, p, true
			}
		}
		select {
		case <-done:
			return stop{}, Proc{}, false
		case <-time.After(pause):
		}
	}
}

// fresh is at most one stop that was not given before.
func (s *stops) fresh() []stop {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || s.seen[e.Name()] {
			continue
		}
		s.seen[e.Name()] = true
		var at stop
		if data, err := os.ReadFile(filepath.Join(s.dir, e.Name())); err == nil && json.Unmarshal(data, &at) == nil {
			return []stop{at}
		}
	}
	return nil
}

// standing waits until a process that said that it is about to stop has done so.
func standing(pid int, done <-chan struct{}) (Proc, bool) {
	for {
		p, ok := Look(pid)
		if !ok || p.State == 'T' {
			return p, ok
		}
		select {
		case <-done:
			return p, false
		case <-time.After(pause):
		}
	}
}

// release lets everybody go on who stops from now on, until ctx ends. What is
// stopped must not be taken for what hangs.
func (s *stops) release(ctx context.Context) {
	for {
		_, p, ok := s.next(ctx.Done())
		if !ok {
			return
		}
		p.signal(unix.SIGCONT)
	}
}
