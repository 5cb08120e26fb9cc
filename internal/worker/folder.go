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

// lay makes a folder what a task's is. status.json comes last: where it says what it
// should, the rest is there.
func (t Task) lay(dir string) error {
	status, err := marshal(t.Status)
	if err != nil {
		return err
	}
	if was, err := os.ReadFile(filepath.Join(dir, StatusFile)); err == nil && bytes.Equal(was, status) {
		return nil
	}
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return err
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
	return writeWhole(filepath.Join(dir, StatusFile), status)
}

// ever reports whether an attempt of the task began, so that its directory tells of it.
func (t Task) ever() bool { return t.Status.Attempts > 0 }

// copyOrDrop copies a file of the call's, if it is there and is to be; else the folder has
// none.
func (t Task) copyOrDrop(dir, name string, wanted bool, from string) error {
	source, err := os.Open(filepath.Join(t.jobDir(), from))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !wanted {
		if err == nil {
			err = source.Close()
		} else {
			err = nil
		}
		return errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
	}
	if err != nil {
		return err
	}
	err = writeFrom(filepath.Join(dir, name), func(w io.Writer) error {
		_, err := io.Copy(w, source)
		return err
	})
	return errors.Join(err, source.Close())
}

// layLog puts what the task's program printed into one file.
func (t Task) layLog(dir string) error {
	at := filepath.Join(dir, LogFile)
	if !t.settled() || !t.ever() {
		return os.RemoveAll(at)
	}
	return writeFrom(at, func(w io.Writer) error {
		if err := t.pour(w, ledger.StdoutFile, ""); err != nil {
			return err
		}
		return t.pour(w, ledger.StderrFile, logMark)
	})
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

func (t Task) laySession(dir string) error {
	at := filepath.Join(dir, SessionFile)
	if t.Status.SessionID == nil || !t.settled() {
		return os.RemoveAll(at)
	}
	return writeWhole(at, []byte(strings.TrimSpace(*t.Status.SessionID)+"\n"))
}

// archive moves what a folder has of an older call into one of its own. Cut off in between
// it goes on where it stopped.
func archive(dir string, n int) error {
	to := filepath.Join(dir, ledger.AttemptDir(n))
	if err := os.MkdirAll(to, dirMode); err != nil {
		return err
	}
	for _, name := range contents {
		from := filepath.Join(dir, name)
		if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		target := filepath.Join(to, name)
		if err := os.RemoveAll(target); err != nil {
			return err
		}
		if err := os.Rename(from, target); err != nil {
			return err
		}
	}
	return nil
}
