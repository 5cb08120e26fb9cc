package worker

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// heldLast finds who held a session of a runtime last, among the jobs that have ended of all
// runs below a workspace root, and where that job worked as its spec has it; nil = nobody.
func heldLast(root, name, id string) (from *resumed, cwd string, err error) {
	runs, err := ledger.EveryRunDir(root)
	if err != nil {
		return nil, "", err
	}
	var dir string
	var last ledger.Session
	var newest time.Time
	for _, run := range runs {
		jobs, err := os.ReadDir(run)
		if err != nil {
			return nil, "", err
		}
		for _, j := range jobs {
			s, when, err := sessionIn(run, j)
			if err != nil {
				return nil, "", err
			}
			if s.SessionID == id && s.Runtime == name && !when.Before(newest) {
				dir, last, newest = run, s, when
			}
		}
	}
	if dir == "" {
		return nil, "", nil
	}
	return heldBy(dir, last)
}

// sessionIn is the session.json of a job in a run directory, and when it was written; nothing
// where the entry is none of a job that has one.
func sessionIn(run string, job fs.DirEntry) (s ledger.Session, when time.Time, err error) {
	if !job.IsDir() {
		return s, when, nil
	}
	info, err := os.Lstat(filepath.Join(run, job.Name(), ledger.SessionFile))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return s, when, nil
	}
	if err == nil {
		s, err = ledger.ReadSession(run, job.Name())
	}
	if err != nil {
		return s, when, err
	}
	return s, info.ModTime(), nil
}

// heldBy is how a job of a run held a session.
func heldBy(run string, s ledger.Session) (from *resumed, cwd string, err error) {
	jobs, err := writtenJobs(run)
	if err != nil {
		return nil, "", err
	}
	var status ledger.JobStatus
	data, err := os.ReadFile(filepath.Join(run, s.Job, ledger.StatusFile))
	if err == nil {
		err = json.Unmarshal(data, &status)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	return &resumed{
		Session: s.SessionID, Runtime: s.Runtime, Model: status.RequestedModel, Cwd: s.Cwd, Writes: s.Access != "" && s.Access != string(runtime.AccessRead),
		Run: run, Job: s.Job, Attempt: s.Attempt, Tree: s.Worktree, Base: s.Commit,
	}, jobs[s.Job].Cwd, nil
}
