package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"orchestrate/internal/process"
)

// Create makes a new run directory below the workspace root, named after now,
// and takes the run's lock. Neither it nor what it needs beside it shows up in
// `git status`, unless a .gitignore of somebody else's prevents that; see
// HistoryShown.
func Create(root string, now time.Time) (*Run, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	reports, err := makeReports(root)
	if err != nil {
		return nil, err
	}
	return createAt(makeRunDir(reports, now))
}

// makeReports makes the folder of runs and of the history, which hides itself from git.
func makeReports(root string) (string, error) {
	reports := filepath.Join(root, filepath.FromSlash(ReportsDir))
	if err := os.MkdirAll(reports, 0o755); err != nil {
		return "", fmt.Errorf("no place for a run directory: %w", err)
	}
	return reports, hideReports(reports)
}

// createAt starts a run in the directory that was made for it.
func createAt(dir string, err error) (*Run, error) {
	if err != nil {
		return nil, fmt.Errorf("no place for a run directory: %w", err)
	}
	r := &Run{Dir: dir, ID: idOf(dir)}
	if err := r.start(); err != nil {
		return nil, fmt.Errorf("run directory %s: %w", dir, err)
	}
	return r, nil
}

// makeRunDir makes the first free name; runs that start in the same second get
// a number.
func makeRunDir(reports string, now time.Time) (string, error) {
	base := filepath.Join(reports, runPrefix+now.UTC().Format("20060102-150405"))
	dir := base
	for n := 2; ; n++ {
		err := os.Mkdir(dir, dirMode)
		if !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
		dir = fmt.Sprintf("%s-%d", base, n)
	}
}

// start fills a fresh run directory and starts its snapshots. On an error it
// leaves nothing open.
func (r *Run) start() (err error) {
	if r.root, err = os.OpenRoot(r.Dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.root.Close())
		}
	}()
	// Before all else, or `git status` would show the folder for a moment.
	if err := createWhole(filepath.Join(r.Dir, ignoreFile), []byte("*\n"), fileMode); err != nil {
		return err
	}
	if r.lock, err = r.root.OpenFile(RunLockFile, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, fileMode); err != nil {
		return err
	}
	file, err := r.startLocked()
	if err != nil {
		return errors.Join(err, r.lock.Close())
	}
	r.run(file)
	return nil
}

// run begins to write, behind the records that are in the journal.
func (r *Run) run(journal *os.File) {
	r.patience, r.closed = patience, false
	r.journal = newJournal(journal, r.fold.state.Seq)
	r.encoder = json.NewEncoder(&r.line)
	r.encoder.SetEscapeHTML(false)
	r.snap = startSnapshots(r.writeSnapshot)
}

func (r *Run) startLocked() (journal *os.File, err error) {
	ok, err := lockFile(r.lock)
	if err != nil || !ok {
		return nil, errors.Join(err, errors.New("its lock cannot be taken"))
	}
	if err := writeOwner(r.lock, process.Self()); err != nil {
		return nil, err
	}
	journal, err = r.root.OpenFile(JournalFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	if err := r.syncNames(); err != nil {
		return nil, errors.Join(err, journal.Close())
	}
	return journal, nil
}

// syncNames makes the run directory's own name durable, and those in it.
func (r *Run) syncNames() error {
	d, err := os.Open(filepath.Dir(r.Dir))
	if err != nil {
		return err
	}
	own, err := r.root.Open(".")
	if err != nil {
		return errors.Join(err, d.Close())
	}
	return errors.Join(syncDir(d), d.Close(), syncDir(own), own.Close())
}

// hideReports keeps the history file, and itself, out of `git status`. A
// .gitignore that is already there is left alone.
func hideReports(reports string) error {
	err := createWhole(filepath.Join(reports, ignoreFile), []byte("/"+ignoreFile+"\n/"+HistoryFile+"\n"), 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// createPlain makes a file that is not there yet.
func createPlain(path string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// HistoryShown says, for a person, that a .gitignore which is already in the
// reports folder of a workspace leaves the history file visible to git, and what
// to do about it; "" when it is hidden or will be. It only reads.
func HistoryShown(root string) string {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(ReportsDir), ignoreFile))
	name := ReportsDir + "/" + ignoreFile
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && ignores(string(text), HistoryFile):
		return ""
	case err != nil:
		return fmt.Sprintf("%s cannot be read, so git may show %s: %v", name, HistoryFile, err)
	}
	return fmt.Sprintf("%s does not hide %s, so git will show that file: add the line /%s", name, HistoryFile, HistoryFile)
}

// ignores reports whether a .gitignore hides a file beside it: the last pattern
// that matches decides.
func ignores(text, name string) bool {
	hidden := false
	for line := range strings.Lines(text) {
		pattern := strings.TrimRight(line, " \t\r\n")
		negated := strings.HasPrefix(pattern, "!")
		pattern = strings.TrimPrefix(strings.TrimPrefix(pattern, "!"), "/")
		if ok, err := path.Match(pattern, name); err == nil && ok {
			hidden = !negated
		}
	}
	return hidden
}
