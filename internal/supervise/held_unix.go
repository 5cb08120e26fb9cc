//go:build linux || darwin

package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"orchestrate/internal/process"
)

// held are the locked files that came with a run frame. The first is the attempt's:
// what it says lets whoever finds it later end the tree, if this supervisor dies.
type held struct {
	files []*os.File
	self  process.Identity
	told  bool // the attempt's file says that this supervisor has it
}

// lockLine is one line of the attempt's locked file.
type lockLine struct {
	Supervisor *process.Identity `json:"supervisor,omitempty"`
	Cgroup     string            `json:"cgroup,omitempty"`
	Program    *process.Identity `json:"program,omitempty"`
	Over       bool              `json:"over,omitempty"`
}

// hold takes what came with the run frame, which says how many those are: the kernel
// drops descriptors for which this process has no room.
func (s *server) hold(announced int) (*held, error) {
	h := &held{files: s.control.takeLocks()}
	if len(h.files) != announced {
		return h, fmt.Errorf("%d of %d locked files arrived, so nothing is started; this user may have too many files open", len(h.files), announced)
	}
	if announced > 0 && s.self.PID == 0 {
		s.self = process.Self()
	}
	h.self = s.self
	return h, nil
}

// mine says that this supervisor has the attempt, in which cgroup ("" = none).
func (h *held) mine(cgroup string) error {
	if err := h.say(lockLine{Supervisor: &h.self, Cgroup: cgroup}); err != nil {
		return fmt.Errorf("the attempt's lock file cannot say who runs it, so nothing is started: %w", err)
	}
	h.told = true
	return nil
}

// started says which program runs.
func (h *held) started(p Process) error {
	who := h.self
	who.PID, who.StartTime = p.PID, p.StartTime
	if err := h.say(lockLine{Program: &who}); err != nil {
		return fmt.Errorf("the attempt's lock file cannot say which program runs: %w", err)
	}
	return nil
}

// over says that the tree is gone and exit.json there.
func (h *held) over() error {
	if !h.told {
		return nil
	}
	return h.say(lockLine{Over: true})
}

// say adds one line in one write. Half a line is taken back, or it would spoil the
// next one.
func (h *held) say(line lockLine) error {
	if len(h.files) == 0 {
		return nil
	}
	data, err := json.Marshal(line)
	if err != nil {
		return err
	}
	n, err := h.files[0].Write(append(data, '\n'))
	if err == nil || n == 0 {
		return err
	}
	info, statErr := h.files[0].Stat()
	if statErr != nil {
		return errors.Join(err, statErr)
	}
	return errors.Join(err, h.files[0].Truncate(info.Size()-int64(n)))
}

// release lets go of all of them.
func (h *held) release() (err error) {
	for _, f := range h.files {
		err = errors.Join(err, f.Close())
	}
	return err
}
