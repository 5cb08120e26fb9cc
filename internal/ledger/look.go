package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Look is Open, and calls visit with every record on the way.
func Look(dir string, visit func(Record) error) (*Run, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f, err := replayFile(filepath.Join(abs, JournalFile), func(rec Record, _ State) error { return visit(rec) })
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	return &Run{Dir: abs, ID: idOf(abs), root: root, fold: f, closed: true}, nil
}

// Begun is what was fixed when a run started; no more of its journal is read.
func Begun(dir string) (info RunInfo, err error) {
	enough := errors.New("this is enough")
	journal := filepath.Join(dir, JournalFile)
	_, err = replayFile(journal, func(rec Record, _ State) error {
		info = *rec.Run
		return enough
	})
	switch {
	case err == nil:
		return info, fmt.Errorf("%s: no run has begun in it", journal)
	case errors.Is(err, enough):
		return info, nil
	}
	return info, err
}

// RunDirs are the run directories below a workspace root, oldest first; none where
// there never was a run.
func RunDirs(root string) (all []string, err error) {
	reports := filepath.Join(root, filepath.FromSlash(ReportsDir))
	entries, err := os.ReadDir(reports)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if isRunDir(e) {
			all = append(all, filepath.Join(reports, e.Name()))
		}
	}
	return all, err
}

// EveryRunDir is RunDirs with the calls of the worker runs below the root behind them, as
// `clean` and others need them who look at all that was ever begun.
func EveryRunDir(root string) (all []string, err error) {
	all, err = RunDirs(root)
	for _, worker := range WorkerRuns(root) {
		calls := filepath.Join(worker, CallsDir)
		entries, errCalls := os.ReadDir(calls)
		if errCalls != nil && !errors.Is(errCalls, fs.ErrNotExist) {
			err = errors.Join(err, errCalls)
		}
		for _, e := range entries {
			if isRunDir(e) {
				all = append(all, filepath.Join(calls, e.Name()))
			}
		}
	}
	return all, err
}

// isRunDir reports whether an entry of the reports folder is a run's.
func isRunDir(e fs.DirEntry) bool {
	return e.IsDir() && strings.HasPrefix(e.Name(), runPrefix) && e.Name() != SalvageDir
}
