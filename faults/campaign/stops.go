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

// stops watches the folder in which failpoints say that they were reached.
type stops struct {
	dir  string
	seen map[string]bool
}

// next waits for a process that has stopped and was not given before. false when
// done is closed first.
func (s *stops) next(done <-chan struct{}) (Proc, bool) {
	for {
		if pid, ok := s.fresh(); ok {
			if p, ok := standing(pid, done); ok {
				return p, true
			}
		}
		select {
		case <-done:
			return Proc{}, false
		case <-time.After(pause):
		}
	}
}

// fresh is the pid of a process that says it has stopped and was not given before.
func (s *stops) fresh() (pid int, ok bool) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return 0, false
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || s.seen[e.Name()] {
			continue
		}
		s.seen[e.Name()] = true
		var at struct{ PID int }
		if data, err := os.ReadFile(filepath.Join(s.dir, e.Name())); err == nil && json.Unmarshal(data, &at) == nil {
			return at.PID, true
		}
	}
	return 0, false
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
		p, ok := s.next(ctx.Done())
		if !ok {
			return
		}
		p.signal(unix.SIGCONT)
	}
}
