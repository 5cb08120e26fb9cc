package worker

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/ledger"
)

// Names in a task's folder.
const (
	PromptFile  = "prompt.txt"  // what it was asked
	LogFile     = "worker.log"  // what its program printed
	OutputFile  = "output.txt"  // its final answer
	SessionFile = "session.txt" // id of its session
	StatusFile  = "status.json"
)

// contents is all that a task's folder can have of one call, in the order in which an older
// one is moved away: while status.json is there it says whose the rest is.
var contents = []string{PromptFile, LogFile, OutputFile, SessionFile, ledger.ArtifactsDir, StatusFile}

// logMark stands between what a program printed and what it printed as errors.
const logMark = "\n--- standard error ---\n"

// in has visit do something in the task's folder, or one in there. Nothing that lies in its
// place or in it leads elsewhere.
func (t Task) in(sub string, visit func(*os.Root) error) (err error) {
	at, err := os.OpenRoot(filepath.Dir(filepath.Dir(t.Dir))) // the worker run
	for _, name := range []string{ledger.TasksDir, t.ID, sub} {
		if err != nil || name == "" {
			break
		}
		above := at
		at, err = enter(above, name)
		err = errors.Join(err, above.Close())
	}
	if err != nil {
		return err
	}
	return errors.Join(visit(at), at.Close())
}

// lay makes a folder what a task's is. status.json comes last: where it says what it
// should, the rest is there.
func (t Task) lay(dir *os.Root) error {
	status, err := marshal(t.Status)
	if err != nil {
		return err
	}
	if was, err := readPlain(dir, StatusFile); err == nil && bytes.Equal(was, status) {
		return nil
	}
	if err := t.copyOrDrop(dir, PromptFile, t.ever(), ledger.PromptFile); err != nil {
		return err
	}
	err = errors.Join(
		t.layLog(dir),
		t.copyOrDrop(dir, OutputFile, t.settled(), ledger.OutputFile),
		t.laySession(dir),
		t.layArtifacts(dir),
	)
	if err != nil {
		return err
	}
	return writeIn(dir, StatusFile, status)
}

// ever reports whether an attempt of the task began, so that its directory tells of it.
func (t Task) ever() bool { return t.Status.Attempts > 0 }

// copyOrDrop copies a file of the call's, if it is there and is to be; else the folder has
// none.
func (t Task) copyOrDrop(dir *os.Root, name string, wanted bool, from string) error {
	source, err := os.Open(filepath.Join(t.jobDir(), from))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !wanted {
		if err == nil {
			err = source.Close()
		} else {
			err = nil
		}
		return errors.Join(err, dir.RemoveAll(name))
	}
	if err != nil {
		return err
	}
	err = writeFrom(dir, name, func(w io.Writer) error {
		_, err := io.Copy(w, source)
		return err
	})
	return errors.Join(err, source.Close())
}

// layLog puts what the task's program printed into one file.
func (t Task) layLog(dir *os.Root) error {
	if !t.settled() || !t.ever() {
		return dir.RemoveAll(LogFile)
	}
	return writeFrom(dir, LogFile, t.printed)
}

// printed is what the task's program printed.
func (t Task) printed(w io.Writer) error {
	if err := t.pour(w, ledger.StdoutFile, ""); err != nil {
		return err
	}
	return t.pour(w, ledger.StderrFile, logMark)
}

// Print prints what output.txt or, with log, worker.log has, from the evidence in the call;
// fs.ErrNotExist where there is none.
func (t Task) Print(w io.Writer, log bool) error {
	switch {
	case !log:
		f, err := os.Open(filepath.Join(t.jobDir(), ledger.OutputFile))
		if err != nil {
			return err
		}
		_, err = io.Copy(w, f)
		return errors.Join(err, f.Close())
	case !t.settled() || !t.ever():
		return fs.ErrNotExist
	}
	return t.printed(w)
}

// pour copies a file of the call's, with before in front of it unless it is empty or not
// there.
func (t Task) pour(w io.Writer, from, before string) error {
	f, err := os.Open(filepath.Join(t.jobDir(), from))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		if _, err = io.WriteString(w, before); err == nil {
			_, err = io.Copy(w, f)
		}
	}
	return errors.Join(err, f.Close())
}

func (t Task) laySession(dir *os.Root) error {
	if t.Status.SessionID == nil || !t.settled() {
		return dir.RemoveAll(SessionFile)
	}
	return writeIn(dir, SessionFile, []byte(strings.TrimSpace(*t.Status.SessionID)+"\n"))
}

// archive moves what a folder has of an older call into one of its own. Cut off in between
// it goes on where it stopped.
func archive(dir *os.Root, n int) error {
	to := ledger.AttemptDir(n)
	in, err := enter(dir, to)
	if err != nil {
		return err
	}
	for _, name := range contents {
		if _, err := dir.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := in.RemoveAll(name)
		if err == nil {
			err = dir.Rename(name, filepath.Join(to, name))
		}
		if err != nil {
			return errors.Join(err, in.Close())
		}
	}
	return in.Close()
}
