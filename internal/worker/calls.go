package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"orchestrate/internal/ledger"
)

// Call is one batch or dispatch of a worker run: a run like any other.
type Call struct {
	N     int    // from 1; a later call has a higher one
	ID    string // of the run
	Dir   string // absolute run directory
	Info  ledger.RunInfo
	State ledger.State
	Live  bool // an engine carries it on
	// Left are the tasks whose workers still run although the engine has gone.
	Left []string
}

// Ended reports whether the call has come to its end.
func (c Call) Ended() bool { return c.State.Phase == ledger.PhaseEnded }

// Specs is the folder with what the call was made from, "" = it is not known.
func (c Call) Specs() string {
	if c.Info.SpecPath == "" {
		return ""
	}
	return filepath.Dir(c.Info.SpecPath)
}

// Calls are those of the run that began, oldest first.
func (r Run) Calls() ([]Call, error) {
	return r.calls(func(Call, ledger.Record) error { return nil })
}

// calls reads the calls and shows every record on the way.
func (r Run) calls(visit func(Call, ledger.Record) error) (all []Call, err error) {
	found, err := r.callDirs()
	if err != nil {
		return nil, err
	}
	for _, c := range found {
		// Before its records: an engine that ends in between has left them as they are read, or
		// counts as one that is still at it.
		if c.Live, err = ledger.Owned(c.Dir); err != nil {
			return nil, err
		}
		run, err := ledger.Look(c.Dir, func(rec ledger.Record) error {
			if rec.Kind == ledger.KindRunStarted && rec.Run != nil {
				c.Info = *rec.Run
			}
			return visit(c, rec)
		})
		if err != nil {
			return nil, fmt.Errorf("call %s: %w", c.ID, err)
		}
		c.State = run.State()
		if !c.Live && !c.Ended() {
			c.Left, err = left(run, c.State.Jobs)
		}
		if err := errors.Join(err, run.Close()); err != nil {
			return nil, fmt.Errorf("call %s: %w", c.ID, err)
		}
		if c.State.Seq > 0 {
			all = append(all, c)
		}
	}
	return all, nil
}

// left are the jobs of a run without an engine that somebody still works at.
func left(run *ledger.Run, jobs []ledger.JobState) (ids []string, err error) {
	for _, j := range jobs {
		if j.Attempt == 0 || j.Status.Settled() {
			continue
		}
		lock, err := run.AttemptLock(j.ID)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case lock.Attempt == j.Attempt && lock.Lives():
			ids = append(ids, j.ID)
		}
	}
	return ids, nil
}

// callDirs are the calls whose run directory has a journal, oldest first.
func (r Run) callDirs() (all []Call, err error) {
	dir := filepath.Join(r.Dir, ledger.CallsDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		dir := filepath.Join(dir, e.Name())
		c := Call{N: numberOf(e.Name()), Dir: dir, ID: idOf(dir)}
		if c.N == 0 || !e.IsDir() {
			continue
		}
		if _, err := os.Stat(filepath.Join(c.Dir, ledger.JournalFile)); err == nil {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b Call) int { return a.N - b.N })
	return all, err
}

// idOf is the id of the run in a directory.
func idOf(dir string) string { return strings.TrimPrefix(filepath.Base(dir), "orchestrate-") }

// numberOf is the number of a call with this id, 0 = it is none of a call's.
func numberOf(id string) int {
	i := strings.LastIndex(id, "-c")
	if i < 0 {
		return 0
	}
	n, err := strconv.Atoi(id[i+len("-c"):])
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// written is what the worker form reads again of a job in jobs.yaml.
type written struct {
	ID       string `yaml:"id"`
	Cwd      string `yaml:"cwd"`
	Effect   string `yaml:"effect"`
	Continue string `yaml:"continue"`
	Worker   struct {
		Resumes *struct {
			Run string `yaml:"run"`
			Job string `yaml:"job"`
		} `yaml:"resumes"`
	} `yaml:"worker"`
}

// writtenJobs are the jobs of a call as they were fixed when it began, by id.
func writtenJobs(dir string) (map[string]written, error) {
	path := filepath.Join(dir, ledger.JobsFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all struct {
		Jobs []written `yaml:"jobs"`
	}
	if err := yaml.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	jobs := map[string]written{}
	for _, j := range all.Jobs {
		jobs[j.ID] = j
	}
	return jobs, nil
}
