package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"orchestrate/internal/process"
)

// patience is how long a lock is waited for whose owner has ended: a child that the
// owner was starting when it died holds a copy of the descriptor until it has become
// another program.
const (
	patience     = 5 * time.Second
	patienceStep = 5 * time.Millisecond
)

// owner is a line of run.lock; the last whole one counts. Without an engine it says
// that the engine before it has given the run up.
type owner struct {
	SchemaVersion int               `json:"schemaVersion"`
	Engine        *process.Identity `json:"engine"`
	At            time.Time         `json:"at"`
}

// OwnedError says that another engine carries the run on.
type OwnedError struct {
	Dir    string
	Holder process.Identity // without a pid when it is not known
}

func (e *OwnedError) Error() string {
	who := "another process"
	if e.Holder.PID != 0 {
		who = fmt.Sprintf("process %d on %s", e.Holder.PID, e.Holder.Host)
	}
	return fmt.Sprintf("the run in %s is carried on by %s: wait for it or cancel it; nothing was changed", e.Dir, who)
}

// Holder is the engine that the run's lock names, whether or not it still lives; ok
// is false when there is none, or it has given the run up. It takes no lock: only
// owners ever do.
func Holder(dir string) (engine process.Identity, ok bool, err error) {
	data, err := os.ReadFile(filepath.Join(dir, RunLockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return process.Identity{}, false, nil
	}
	if err != nil {
		return process.Identity{}, false, err
	}
	lines := bytes.Split(data, []byte("\n"))
	if len(lines) < 2 {
		return process.Identity{}, false, nil // empty, or being written
	}
	var last owner
	if err := json.Unmarshal(lines[len(lines)-2], &last); err != nil {
		return process.Identity{}, false, fmt.Errorf("%s: %w", filepath.Join(dir, RunLockFile), err)
	}
	if last.Engine == nil {
		return process.Identity{}, false, nil
	}
	return *last.Engine, true, nil
}

// Owned reports whether an engine carries the run on, or may do so on a machine that
// cannot be looked at from here: a run that has not ended and that nobody owns was
// cut off.
func Owned(dir string) (bool, error) {
	engine, ok, err := Holder(dir)
	return ok && engine.Fate() != process.Gone, err
}

// writeOwner adds a line to a run's lock; no pid means that nobody owns it.
func writeOwner(lock *os.File, engine process.Identity) error {
	line := owner{SchemaVersion: SchemaVersion, At: time.Now().UTC()}
	if engine.PID != 0 {
		line.Engine = &engine
	}
	data, err := json.Marshal(line)
	if err == nil {
		_, err = lock.Write(append(data, '\n'))
	}
	return err
}

// lockPatiently takes a lock, and waits for it only while gone says that who held it
// has ended.
func lockPatiently(f *os.File, limit time.Duration, gone func() bool) (ok bool, err error) {
	for until := time.Now().Add(limit); ; time.Sleep(patienceStep) {
		if ok, err = lockFile(f); ok || err != nil || !gone() || !time.Now().Before(until) {
			return ok, err
		}
	}
}
