package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/sandbox"
)

// reach reads from an attempt's own files where it worked, what it could get at and
// by which command. What is not there, because it was not got ready, stays empty.
func (t *teller) reach(a *Attempt) error {
	a.Reach = Reach{Readable: []string{}, Writable: []string{}, EnvPassed: []string{}, EnvWithheld: []string{}}
	dir, lock, err := t.filesOf(a.Attempt)
	if err != nil || dir == "" {
		return err
	}
	if f := lock.Furnished; f != nil {
		a.Cwd = f.Dir
		if f.Box != nil && a.Route.Sandbox == sandbox.Landlock {
			a.Readable, a.Writable = append(a.Readable, reading(f.Box.Deny, f.Box.Read)), append(a.Writable, f.Box.Write...)
		} else {
			out := filepath.Join(t.run.Dir, filepath.FromSlash(dir), ledger.ArtifactsDir)
			a.Readable = append(a.Readable, unbounded)
			a.Writable = append(a.Writable, writable(a.Route, placingOf(t.job, a.Route, f.Dir, out))...)
		}
	}
	command, err := t.run.ReadFile(ledger.JobPath(dir, ledger.CommandFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	a.Command = strings.TrimSpace(string(command))
	if a.Route.Runtime == handoff.Runtime { // no program of ours, so none that was given variables
		return nil
	}
	t.environment(a)
	if f := lock.Furnished; f != nil {
		a.EnvPassed = append(a.EnvPassed, f.Sets...)
		slices.Sort(a.EnvPassed)
		a.EnvPassed = slices.Compact(a.EnvPassed)
		a.EnvWithheld = slices.DeleteFunc(a.EnvWithheld, func(name string) bool { return slices.Contains(f.Sets, name) })
	}
	return nil
}

// filesOf finds the folder of attempt n, which moves when another one follows; "" =
// there is none.
func (t *teller) filesOf(n int) (dir string, lock ledger.AttemptLock, err error) {
	for _, dir := range []string{t.story.Job, ledger.JobPath(t.story.Job, ledger.AttemptDir(n))} {
		lock, err := t.run.AttemptLock(dir)
		switch {
		case err == nil && lock.Attempt == n:
			return dir, lock, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", lock, err
		}
	}
	return "", lock, nil
}

// readRuntimes takes what the run has on record of its runtimes: nothing, when it has
// not come so far.
func (t *teller) readRuntimes() error {
	data, err := t.run.ReadFile(ledger.RuntimesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &t.profiles)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.run.Path(ledger.RuntimesFile), err)
	}
	t.story.Runtimes = t.profiles.Profiles
	return nil
}

// withheldValue keeps a name from passing for any other reason than that the job
// allows it: it looks like a password.
const withheldValue = "//user:word@host"

// environment names the variables that the program got: those of its runtime, and
// what its job allowed besides.
func (t *teller) environment(a *Attempt) {
	names := t.profiles.Environments[a.Route.Runtime]
	withheld := make([]string, 0, len(names.Withheld))
	for _, n := range names.Withheld {
		withheld = append(withheld, n+"="+withheldValue)
	}
	_, allowed, rest := environ.Filter(withheld, nil, t.job.EnvAllow)
	a.EnvPassed = append(append(a.EnvPassed, names.Passed...), allowed...)
	a.EnvWithheld = append(a.EnvWithheld, rest...)
	slices.Sort(a.EnvPassed)
}
