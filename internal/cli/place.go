package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"orchestrate/internal/ledger"
)

// displaced says that a run directory is not where its run was started, nil where it
// is. Its lock then names an engine that knows nothing of this directory, and its name
// may be that of another run.
func displaced(dir string) (*ledger.MovedError, error) {
	was, err := startedIn(dir)
	if err != nil || was == "" {
		return nil, err
	}
	here, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if there, err := os.Stat(was); err == nil && os.SameFile(here, there) {
		return nil, nil
	}
	_, err = os.Stat(filepath.Join(was, ledger.JournalFile))
	return &ledger.MovedError{Dir: dir, Was: was, Copied: err == nil}, nil
}

// startedIn is where the run of a directory was started, by its first record; "" where
// that does not say.
func startedIn(dir string) (was string, err error) {
	f, err := os.Open(filepath.Join(dir, ledger.JournalFile))
	if err != nil {
		return "", err
	}
	defer f.Close() // only read
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return "", nil // not whole yet
	}
	if err != nil {
		return "", err
	}
	var first ledger.Record
	if err := json.Unmarshal(line, &first); err != nil || first.Run == nil {
		return "", nil //nolint:nilerr // whoever replays it says what is wrong with it
	}
	return first.Run.Dir, nil
}

// inPlace is a usable run directory for a command that acts on processes: the one that
// the run was started in, or an error.
func inPlace(sys System, arg string) (dir string, err error) { return inPlaceOf(sys, arg, openCalls) }

// inPlaceOf is inPlace for a command that is about other calls of a worker run.
func inPlaceOf(sys System, arg string, which meant) (dir string, err error) {
	if dir, err = findRunOf(sys, arg, which); err != nil {
		return "", err
	}
	moved, err := displaced(dir)
	switch {
	case err != nil:
		return "", failure(err)
	case moved != nil:
		return "", failure(moved)
	}
	return dir, nil
}
