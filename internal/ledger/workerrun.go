package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A worker run is a folder in which a coordinator collects the results of many small
// calls. Each call is a run like any other, kept below it; internal/worker has what else
// is there.

// Names in a worker run.
const (
	WorkerRunsDir = ".orchestrate/runs"     // from the workspace root
	CallsDir      = "calls"                 // one run directory per batch or dispatch
	TasksDir      = "tasks"                 // what came of each task, by its id
	WorkerFile    = "run.json"              // says that it is one
	SessionsDir   = ".orchestrate/sessions" // from the workspace root: a lock for each session that only its id is known of
	WorkerLock    = "call.lock"             // held for a moment by a call that begins, or goes on
)

// CreateIn is Create in a worker run, dir, of the workspace at root. The run's id is that of
// the worker run with the number of the call behind it, so no other run of the workspace has
// it. A later call has a higher number, also where an older one was cleaned away.
func CreateIn(root, dir string) (*Run, error) {
	if _, err := makeReports(root); err != nil { // the history is there
		return nil, err
	}
	calls := filepath.Join(dir, CallsDir)
	if err := os.MkdirAll(calls, dirMode); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(calls)
	if err != nil {
		return nil, err
	}
	n := 1
	for _, e := range entries {
		if _, number, ok := cutCall(e.Name()); ok {
			if m, err := strconv.Atoi(number); err == nil {
				n = max(n, m+1)
			}
		}
	}
	for ; ; n++ {
		at := filepath.Join(calls, fmt.Sprintf("%s%s-c%d", runPrefix, filepath.Base(dir), n))
		if err := os.Mkdir(at, dirMode); !errors.Is(err, fs.ErrExist) {
			return createAt(at, err)
		}
	}
}

// WorkerRuns are the directories of the worker runs below a workspace root, oldest first;
// none where there never was one.
func WorkerRuns(root string) (all []string) {
	runs := filepath.Join(root, filepath.FromSlash(WorkerRunsDir))
	entries, err := os.ReadDir(runs)
	if err != nil {
		return nil // there is none that could be looked at
	}
	for _, e := range entries {
		dir := filepath.Join(runs, e.Name())
		if _, err := os.Lstat(filepath.Join(dir, WorkerFile)); err == nil && e.IsDir() {
			all = append(all, dir)
		}
	}
	return all
}

// Within says of a path in a run directory which workspace and which run that is of, as the
// names on the way say; ok is false where they say none.
func Within(path string) (root, run string, ok bool) {
	path = filepath.ToSlash(path)
	for _, kept := range []string{ReportsDir + "/", WorkerRunsDir + "/"} {
		before, rest, found := strings.Cut(path, "/"+kept)
		if !found {
			continue
		}
		if worker, call, found := strings.Cut(rest, "/"+CallsDir+"/"); found && kept != ReportsDir+"/" && !strings.Contains(worker, "/") {
			rest = call
		}
		if rest, found = strings.CutPrefix(rest, runPrefix); !found {
			continue
		}
		run, _, _ = strings.Cut(rest, "/")
		return filepath.FromSlash(before), run, true
	}
	return "", "", false
}
