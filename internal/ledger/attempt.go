package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrHeld says that an older attempt's process tree is not proven gone: somebody
// still holds its lock.
var ErrHeld = errors.New("the older attempt's lock is still held, so its processes may be alive")

// BeginAttempt prepares a job's directory for attempt n (from 1): what an older
// attempt left moves to attempt-<n-1>/, and the new attempt's lock is taken. The
// lock goes to the supervisor; it is held until every copy of the descriptor is
// closed. dir is absolute. ErrHeld when the older attempt may still be alive.
func (r *Run) BeginAttempt(job string, n int) (dir string, lock *os.File, err error) {
	if r.lock == nil {
		return "", nil, ErrReadOnly
	}
	if job != filepath.Base(job) || !filepath.IsLocal(job) || n < 1 {
		return "", nil, fmt.Errorf("attempt %d of %q: not a job of this run", n, job)
	}
	if n == 1 {
		err = r.root.Mkdir(job, dirMode)
	} else {
		err = r.retire(job, n-1)
	}
	if err != nil {
		return "", nil, fmt.Errorf("attempt %d of job %s: %w", n, job, err)
	}
	lock, err = r.lockAttempt(filepath.Join(job, AttemptLockFile), os.O_CREATE|os.O_EXCL)
	if err != nil {
		return "", nil, fmt.Errorf("attempt %d of job %s: %w", n, job, err)
	}
	return r.JobDir(job), lock, nil
}

func (r *Run) lockAttempt(name string, flags int) (*os.File, error) {
	f, err := r.root.OpenFile(name, os.O_RDWR|flags, fileMode)
	if err != nil {
		return nil, err
	}
	ok, err := lockFile(f)
	if err == nil && !ok {
		err = ErrHeld
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// retire moves the files of attempt n out of the way, once it is surely over.
func (r *Run) retire(job string, n int) error {
	lock, err := r.lockAttempt(filepath.Join(job, AttemptLockFile), 0)
	if err != nil {
		return err
	}
	defer lock.Close() // nothing was written through it
	names, err := r.list(job)
	if err != nil {
		return err
	}
	to := filepath.Join(job, AttemptDir(n))
	if err := r.root.Mkdir(to, dirMode); err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, "attempt-") {
			continue
		}
		if err := r.root.Rename(filepath.Join(job, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) list(rel string) ([]string, error) {
	d, err := r.root.Open(rel)
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	return names, errors.Join(err, d.Close())
}

// Attempts reads the status of every attempt of a job, oldest first; the newest
// is the job's own status.json. A job that has no directory yet has none.
func (r *Run) Attempts(job string) ([]JobStatus, error) {
	var all []JobStatus
	for n := 1; ; n++ {
		s, err := r.readStatus(JobPath(job, AttemptDir(n), StatusFile))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	s, err := r.readStatus(JobPath(job, StatusFile))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	return append(all, s), nil
}

func (r *Run) readStatus(rel string) (JobStatus, error) {
	var s JobStatus
	data, err := r.ReadFile(rel)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%s: %w", r.Path(rel), err)
	}
	return s, nil
}
