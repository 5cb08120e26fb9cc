//go:build linux

package campaign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"orchestrate/internal/ledger"
	"orchestrate/internal/process"
)

// RunDirs are the run directories of a workspace, oldest first.
func RunDirs(workspace string) []string {
	all, err := filepath.Glob(filepath.Join(workspace, ledger.ReportsDir, "orchestrate-*"))
	if err != nil { // only a malformed pattern
		panic(err)
	}
	return slices.DeleteFunc(all, func(dir string) bool { return filepath.Base(dir) == ledger.HistoryFile })
}

// Engine is the living process that owns a run.
func Engine(dir string) (Proc, bool) {
	var lock struct{ Engine process.Identity }
	data, err := os.ReadFile(filepath.Join(dir, ledger.RunLockFile))
	if err != nil || json.Unmarshal(data, &lock) != nil {
		return Proc{}, false
	}
	return alive(lock.Engine)
}

func alive(id process.Identity) (Proc, bool) {
	p, ok := Look(id.PID)
	return p, ok && id.PID > 0 && p.Start == id.StartTime
}

// Held is what an attempt's lock says of its program, which is the first that is
// named there: checks come later.
type Held struct {
	Job        string            `json:"job"`
	Attempt    int               `json:"attempt"`
	Supervisor *process.Identity `json:"supervisor"`
	Program    *process.Identity `json:"program"`
	Cgroup     string            `json:"cgroup"`
	Over       bool              `json:"over"`    // that program has ended, and so has all it started
	Mark       string            `json:"mark"`    // in the environment of all its processes
	Private    string            `json:"private"` // its folder for temporary files, "" = none
	Boxed      bool              `json:"boxed"`   // the engine's sandbox is around it
	dir        string            // where its files are
}

// Attempts reads the locks of the newest attempts of a run.
func Attempts(dir string) (all []Held) {
	files, err := filepath.Glob(filepath.Join(dir, "*", ledger.AttemptLockFile))
	if err != nil { // only a malformed pattern
		panic(err)
	}
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			all = append(all, readHeld(filepath.Base(filepath.Dir(file)), data))
		}
	}
	return all
}

// allAttempts reads the locks of all attempts of a run, older ones too.
func allAttempts(dir string) (all []Held, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != ledger.AttemptLockFile {
			return err
		}
		data, err := os.ReadFile(file)
		h := readHeld("", data)
		h.dir = filepath.Dir(file)
		all = append(all, h)
		return err
	})
	return all, err
}

// readHeld reads the lines of a lock. A line that is not whole does not count.
func readHeld(job string, data []byte) Held {
	h := Held{Job: job}
	for line := range bytes.Lines(data) {
		var l struct {
			Attempt    int
			Supervisor *process.Identity
			Program    *process.Identity
			Cgroup     string
			Over       bool
			Furnished  *ledger.Furnished
		}
		if json.Unmarshal(line, &l) != nil {
			continue
		}
		switch {
		case l.Attempt > 0:
			h.Attempt = l.Attempt
		case l.Furnished != nil:
			h.Mark, h.Private, h.Boxed = l.Furnished.Mark, l.Furnished.Private, l.Furnished.Box != nil
		case l.Supervisor != nil:
			h.Supervisor, h.Cgroup = l.Supervisor, l.Cgroup
		case l.Program != nil && h.Program == nil:
			h.Program = l.Program
		case l.Over:
			h.Over = true
		}
	}
	return h
}

// running are the attempts whose supervisor and program are alive.
func running(dir string) (all []Held) {
	for _, h := range Attempts(dir) {
		if h.Supervisor == nil || h.Program == nil || h.Over {
			continue
		}
		_, boss := alive(*h.Supervisor)
		_, program := alive(*h.Program)
		if boss && program {
			all = append(all, h)
		}
	}
	return all
}

// Journal reads a run's records; a last line that is not whole does not count.
func Journal(dir string) (all []ledger.Record, err error) {
	data, err := os.ReadFile(filepath.Join(dir, ledger.JournalFile))
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(data) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var r ledger.Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// lastRecord says in a few words where a journal ends.
func lastRecord(dir string) string {
	all, err := Journal(dir)
	if err != nil {
		return err.Error()
	}
	if len(all) == 0 {
		return "none"
	}
	r := all[len(all)-1]
	text := fmt.Sprintf("%d %s", r.Seq, r.Kind)
	if r.Job != "" {
		text += fmt.Sprintf(" %s/%d", r.Job, r.Attempt)
	}
	if r.Event != nil {
		text += " " + string(r.Event.Kind)
	}
	return text
}
