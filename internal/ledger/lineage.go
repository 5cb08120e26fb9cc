package ledger

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Lineage is the session that an attempt goes on with, and what that leaves to it.
type Lineage struct {
	Session string `json:"session"` // id
	// Of names whose it is, as in Session.ResumeOf. Dir is that one's run directory; it, Job
	// and Attempt are "" and 0 where only the id is known.
	Of      string `json:"of"`
	Dir     string `json:"dir"`
	Job     string `json:"job"`
	Attempt int    `json:"attempt"`
	Access  string `json:"access"` // the most that it may do, "" = not known
	Cwd     string `json:"cwd"`    // absolute
	Tree    string `json:"tree"`   // absolute top of the worktree, "" = the shared checkout
	GitDir  string `json:"gitDir"` // of that worktree
	Base    string `json:"base"`   // commit that the worktree was left at
	// InputTokens and OutputTokens are all that the session had used before.
	InputTokens  int64 `json:"inputTokens"`
	OutputTokens int64 `json:"outputTokens"`
}

// Heir is the attempt that goes on with the session of another one, and with the worktree
// that it is at home in.
type Heir struct {
	Dir     string `json:"dir"` // run directory
	Job     string `json:"job"`
	Attempt int    `json:"attempt"`
}

// String names the heir for a person.
func (h Heir) String() string {
	return fmt.Sprintf("job %s of run %s (attempt %d)", h.Job, idOf(h.Dir), h.Attempt)
}

// InUseError says that somebody goes on with a session just now.
type InUseError struct{ By Heir }

func (e *InUseError) Error() string { return e.By.String() + " goes on with it" }

// Unwrap is ErrHeld.
func (e *InUseError) Unwrap() error { return ErrHeld }

// SessionInUse begins the evidence of a job that is blocked because somebody goes on with its
// session; behind it is who, as InUseError has it, where that is known.
const SessionInUse = "its session is in use: "

// sessionUser is what SessionInUse is followed by.
var sessionUser = regexp.MustCompile(`^job \S+ of run (\S+) `)

// UserOf is the run that goes on with the session of a job with this evidence, "" = not known;
// inUse is false where the evidence is another.
func UserOf(evidence string) (run string, inUse bool) {
	who, inUse := strings.CutPrefix(evidence, SessionInUse)
	if m := sessionUser.FindStringSubmatch(who); m != nil {
		run = m[1]
	}
	return run, inUse
}

// HoldSession takes the lock of an attempt that is over, of whatever run, for the one that
// goes on with its session, and writes into it who that is. As long as the file is open,
// nobody else goes on with that session or takes away the folder that it is at home in.
// Where somebody has it already the error wraps ErrHeld, and is an InUseError where it is known
// who that is. found is what the lock
// said before.
func HoldSession(dir, job string, attempt int, heir Heir) (lock *os.File, found AttemptLock, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, found, err
	}
	defer func() { _ = root.Close() }() // nothing is written through it
	lock, found, err = openLock(root, job, attempt)
	if err != nil {
		return nil, found, err
	}
	ok, err := lockFile(lock)
	switch {
	case err == nil && !ok && found.Heir != nil:
		err = &InUseError{By: *found.Heir}
	case err == nil && !ok:
		err = ErrHeld
	}
	if err == nil {
		err = cutTorn(lock)
	}
	if err == nil {
		err = writeLine(lock, lockLine{Heir: &heir})
	}
	if err != nil {
		return nil, found, errors.Join(err, lock.Close())
	}
	return lock, found, nil
}

// HoldSessionID is HoldSession for a session of which only the runtime and the id are known,
// among those who go on with it in the workspace at root.
func HoldSessionID(root, runtime, id string, heir Heir) (lock *os.File, err error) {
	dir := filepath.Join(root, filepath.FromSlash(SessionsDir))
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, fmt.Sprintf("%x.lock", sha256.Sum256([]byte(runtime+"\x00"+id))))
	lock, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	ok, err := lockFile(lock)
	if err == nil && !ok {
		err = heldBy(path)
	}
	if err == nil {
		err = lock.Truncate(0)
	}
	if err == nil {
		err = writeLine(lock, lockLine{Heir: &heir})
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// heldBy is the error of a lock that somebody has, who may not have said yet who it is.
func heldBy(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	found, err := parseLock(path, data)
	switch {
	case err != nil:
		return err
	case found.Heir != nil:
		return &InUseError{By: *found.Heir}
	}
	return ErrHeld
}

// ReturnSession says in the lock that HoldSession gave that nothing was gone on with: heir is
// who did before, nil = nobody. It gives the lock up.
func ReturnSession(lock *os.File, heir *Heir) error {
	if heir == nil {
		heir = &Heir{}
	}
	return errors.Join(writeLine(lock, lockLine{Heir: heir}), lock.Close())
}

// openLock finds the lock of an attempt: in its job's directory, or where it was moved to
// when a later one began.
func openLock(root *os.Root, job string, attempt int) (*os.File, AttemptLock, error) {
	for _, at := range []string{filepath.Join(job, AttemptLockFile), filepath.Join(job, AttemptDir(attempt), AttemptLockFile)} {
		data, err := root.ReadFile(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, AttemptLock{}, err
		}
		found, err := parseLock(filepath.Join(root.Name(), at), data)
		if err != nil {
			return nil, found, err
		}
		if found.Attempt == attempt {
			lock, err := root.OpenFile(at, os.O_RDWR|os.O_APPEND, fileMode)
			return lock, found, err
		}
	}
	return nil, AttemptLock{}, fmt.Errorf("attempt %d of job %s in %s: its lock is gone: %w", attempt, job, root.Name(), fs.ErrNotExist)
}

func writeLine(lock *os.File, line lockLine) error {
	data, err := json.Marshal(line)
	if err == nil {
		_, err = lock.Write(append(data, '\n'))
	}
	return err
}

// ReadSession reads the session.json of a job's newest attempt in a run directory;
// fs.ErrNotExist when it has none.
func ReadSession(dir, job string) (s Session, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return s, err
	}
	defer func() { _ = root.Close() }() // it is only read
	at := filepath.Join(job, SessionFile)
	data, err := root.ReadFile(at)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%s: %w", filepath.Join(dir, at), err)
	}
	return s, nil
}
