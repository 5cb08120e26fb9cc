package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"orchestrate/internal/failpoint"
)

// ErrHeld says that an older attempt's process tree is not proven gone: somebody
// still holds its lock.
var ErrHeld = errors.New("the older attempt's lock is still held, so its processes may be alive")

// BeginAttempt prepares a job's directory for attempt n (from 1), whose intent is in
// the journal: what is left of an older one moves to attempt-<n-1>/, and the new
// attempt's lock is taken. The lock goes to the supervisor; it is held until every
// copy of the descriptor is closed. dir is absolute. ErrHeld when the older attempt
// may still be alive. It may have been cut off at any step before: it goes on from
// there.
func (r *Run) BeginAttempt(job string, n int) (dir string, lock *os.File, err error) {
	if r.lock == nil {
		return "", nil, ErrReadOnly
	}
	if job == "." || job != filepath.Base(job) || !filepath.IsLocal(job) || n < 1 {
		return "", nil, fmt.Errorf("attempt %d of %q: not a job of this run", n, job)
	}
	if err = r.mkdir(job); err == nil {
		err = r.retire(job, n-1)
	}
	if err == nil {
		lock, err = r.placeLock(job, n)
	}
	if err != nil {
		return "", nil, fmt.Errorf("attempt %d of job %s: %w", n, job, err)
	}
	return r.JobDir(job), lock, nil
}

// mkdir makes a folder unless it is there.
func (r *Run) mkdir(name string) error {
	err := r.root.Mkdir(name, dirMode)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := r.root.Lstat(name); err != nil || !info.IsDir() {
		return errors.Join(err, fmt.Errorf("%s: %w", r.Path(filepath.ToSlash(name)), ErrNotFolder))
	}
	return nil
}

// placeLock puts the lock of attempt n in place: whoever finds it finds it locked and
// with the attempt's number.
func (r *Run) placeLock(job string, n int) (*os.File, error) {
	name := filepath.Join(job, AttemptLockFile)
	f, temp, err := r.createTemp(name, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	ok, err := lockFile(f)
	if err == nil && !ok {
		err = ErrHeld
	}
	if err == nil {
		err = r.addLine(f, lockLine{Attempt: n})
	}
	if err == nil {
		err = r.root.Rename(temp, name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), r.root.RemoveAll(temp))
	}
	return f, nil
}

// retire moves the files of an older attempt out of the way, once it is surely over:
// to the folder of the attempt that their lock names, or of attempt n when there is no
// lock. The lock goes last, so that until all have moved it says whose they are.
func (r *Run) retire(job string, n int) error {
	names, err := r.attemptFiles(job)
	if err != nil || len(names) == 0 {
		return err
	}
	if lock, err := r.lockAttempt(job, r.patience); err == nil {
		defer lock.Close() // nothing was written through it
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch l, err := r.AttemptLock(job); {
	case err == nil && l.Attempt != 0:
		n = l.Attempt
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	to := filepath.Join(job, AttemptDir(n))
	if err := r.mkdir(to); err != nil {
		return err
	}
	for _, name := range names {
		if err := r.root.Rename(filepath.Join(job, name), filepath.Join(to, name)); err != nil {
			return err
		}
		failpoint.Hit(failpoint.Retiring)
	}
	return nil
}

// attemptFiles are the names in a job's directory that belong to its newest attempt,
// the lock last.
func (r *Run) attemptFiles(job string) ([]string, error) {
	all, err := r.list(job)
	if err != nil {
		return nil, err
	}
	var names []string
	locked := false
	for _, name := range all {
		if name == AttemptLockFile {
			locked = true
		} else if _, older := attemptOf(name); !older {
			names = append(names, name)
		}
	}
	if locked {
		names = append(names, AttemptLockFile)
	}
	return names, nil
}

// attemptOf is the attempt whose folder has this name.
func attemptOf(name string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(name, attemptPrefix)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0
}

func (r *Run) list(rel string) ([]string, error) {
	d, err := r.root.Open(rel)
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	return names, errors.Join(err, d.Close())
}

// Attempts reads the status of every attempt of a job that left one, oldest first; the
// newest is the job's own status.json. A job that has no directory yet has none.
func (r *Run) Attempts(job string) ([]JobStatus, error) {
	names, err := r.list(job)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []JobStatus
	for _, n := range append(older(names), 0) {
		rel := JobPath(job, StatusFile)
		if n != 0 {
			rel = JobPath(job, AttemptDir(n), StatusFile)
		}
		s, err := r.readStatus(rel)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// older are the attempts that have a folder of their own among these names, in order.
func older(names []string) []int {
	var all []int
	for _, name := range names {
		if n, ok := attemptOf(name); ok && n > 0 {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
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
