package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"orchestrate/internal/process"
	"orchestrate/internal/sandbox"
)

// AttemptLock is what the lock of a job's newest attempt says: who had the attempt's
// process tree, and what is needed to settle it.
type AttemptLock struct {
	Attempt    int // 0 = it says nothing yet
	Furnished  *Furnished
	Supervisor *process.Identity // the newest one
	Program    *process.Identity // the newest supervisor's, nil = it recorded none
	Cgroup     string            // of that supervisor
	Over       bool              // its program's tree is proven gone
	Heir       *Heir             // who went on with its session last, nil = nobody did
}

// Unended reports whether a tree may be left whose end nobody has recorded.
func (l AttemptLock) Unended() bool { return l.Supervisor != nil && !l.Over }

// Lives reports whether anything lives, or may, of those whom the lock names as having the
// attempt: that is so also after their engine has gone.
func (l AttemptLock) Lives() bool {
	lives := func(id *process.Identity) bool { return id != nil && id.Fate() != process.Gone }
	return !l.Over && (lives(l.Supervisor) || lives(l.Program))
}

// Furnished is what the engine knew of an attempt when it handed it over, and another
// engine needs to settle it.
type Furnished struct {
	Dir              string    `json:"dir"`    // where its program works
	Top              string    `json:"top"`    // of its tree
	Tree             string    `json:"tree"`   // worktree, "" = none of its own
	GitDir           string    `json:"gitDir"` // of that worktree
	Branch           string    `json:"branch"`
	Base             string    `json:"base"`
	Isolated         bool      `json:"isolated"`
	Shared           bool      `json:"shared"` // it writes in the shared checkout
	SharedBase       string    `json:"sharedBase"`
	Inputs           string    `json:"inputs"` // as in Work
	AnswerFromStdout bool      `json:"answerFromStdout"`
	Decoder          string    `json:"decoder"`
	Begun            time.Time `json:"begun"`
	Mark             string    `json:"mark"`        // in the environment of every process of it
	Constrained      []string  `json:"constrained"` // limits of its command, as on its route
	Before           string    `json:"before"`      // tree of the shared checkout for an observer that nothing holds, digest of its own tree for the arbiter; "" = not recorded
	Sets             []string  `json:"sets"`        // names in its environment that lead to its private folder
	Private          string    `json:"private"`     // its folder for temporary files and caches, "" = none
	// Box is what the kernel holds its program to, as its route says, and CheckBox its
	// checks, which have a private folder besides; nil = nothing, or it has no checks.
	Box      *sandbox.Policy `json:"box"`
	CheckBox *sandbox.Policy `json:"checkBox"`
	Resumes  *Lineage        `json:"resumes"` // the session that it goes on with, nil = it begins one
}

// lockLine is any line of an attempt's lock. Each has one of these, the supervisor's
// its cgroup too.
type lockLine struct {
	Attempt    int               `json:"attempt,omitempty"`
	Furnished  *Furnished        `json:"furnished,omitempty"`
	Supervisor *process.Identity `json:"supervisor,omitempty"`
	Cgroup     string            `json:"cgroup,omitempty"`
	Program    *process.Identity `json:"program,omitempty"`
	Over       bool              `json:"over,omitempty"`
	Heir       *Heir             `json:"heir,omitempty"`
}

func (l *AttemptLock) take(line lockLine) {
	switch {
	case line.Attempt != 0:
		l.Attempt = line.Attempt
	case line.Furnished != nil:
		l.Furnished = line.Furnished
	case line.Supervisor != nil:
		l.Supervisor, l.Cgroup, l.Program, l.Over = line.Supervisor, line.Cgroup, nil, false
	case line.Program != nil:
		l.Program = line.Program
	case line.Over:
		l.Over = true
	case line.Heir != nil:
		if l.Heir = line.Heir; l.Heir.Dir == "" { // whoever took it gave it back
			l.Heir = nil
		}
	}
}

// parseLock reads an attempt's lock. A torn last line does not count.
func parseLock(path string, data []byte) (AttemptLock, error) {
	var l AttemptLock
	n := 0
	for line := range bytes.Lines(data[:bytes.LastIndexByte(data, '\n')+1]) {
		n++
		var one lockLine
		if err := json.Unmarshal(line, &one); err != nil {
			return l, fmt.Errorf("%s line %d: %w; it was damaged, so what became of this attempt's processes cannot be read from it", path, n, err)
		}
		l.take(one)
	}
	return l, nil
}

// AttemptLock reads the lock of a job's newest attempt; fs.ErrNotExist when there is
// none.
func (r *Run) AttemptLock(job string) (AttemptLock, error) {
	rel := JobPath(job, AttemptLockFile)
	data, err := r.ReadFile(rel)
	if err != nil {
		return AttemptLock{}, err
	}
	return parseLock(r.Path(rel), data)
}

// Furnish adds to the attempt's lock what another engine needs to settle it. It comes
// before the lock is handed over.
func (r *Run) Furnish(job string, lock *os.File, f Furnished) error {
	if err := r.addLine(lock, lockLine{Furnished: &f}); err != nil {
		return fmt.Errorf("lock of job %s: %w", job, err)
	}
	return nil
}

func (r *Run) addLine(lock *os.File, line lockLine) error {
	data, err := json.Marshal(line)
	if err == nil {
		_, err = lock.Write(append(r.clean("lock.json", data), '\n'))
	}
	return err
}

// Retake takes the lock of a job's newest attempt, without waiting: ErrHeld while
// somebody has it, fs.ErrNotExist when there is none.
func (r *Run) Retake(job string) (*os.File, error) {
	if r.lock == nil {
		return nil, ErrReadOnly
	}
	f, err := r.lockAttempt(job, 0)
	if err != nil {
		return nil, fmt.Errorf("lock of job %s: %w", job, err)
	}
	return f, nil
}

// lockAttempt takes the lock of a job's newest attempt. It waits for it, at most
// limit, only while no supervisor that lives is recorded as having it. A line that a
// dead writer left torn is cut off, so that the next one stands by itself.
func (r *Run) lockAttempt(job string, limit time.Duration) (*os.File, error) {
	f, err := r.root.OpenFile(filepath.Join(job, AttemptLockFile), os.O_RDWR|os.O_APPEND, fileMode)
	if err != nil {
		return nil, err
	}
	ok, err := lockPatiently(f, limit, func() bool { return !r.supervised(job) })
	if err == nil && !ok {
		err = ErrHeld
	}
	if err == nil {
		err = cutTorn(f)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// supervised reports whether a supervisor that may live has the newest attempt.
func (r *Run) supervised(job string) bool {
	l, err := r.AttemptLock(job)
	return err != nil || l.Unended() && l.Supervisor.Fate() != process.Gone
}

// cutTorn removes what is behind the last newline of a file.
func cutTorn(f *os.File) error {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<62))
	if err != nil {
		return err
	}
	if whole := bytes.LastIndexByte(data, '\n') + 1; whole < len(data) {
		return f.Truncate(int64(whole))
	}
	return nil
}
