package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A worker run is a folder in which a coordinator collects the results of many small
// calls. Each call is a run like any other, kept below it; internal/worker has what else
// is there.

// Names in a worker run.
const (
	WorkerRunsDir = ".orchestrate/runs" // from the workspace root
	CallsDir      = "calls"             // one run directory per batch or dispatch
	TasksDir      = "tasks"             // what came of each task, by its id
	WorkerFile    = "run.json"          // says that it is one
)

// CreateIn is Create in a worker run, dir. The run's id is that of the worker run with the
// number of the call behind it, so no other run of the workspace has it.
func CreateIn(dir string) (*Run, error) {
	calls := filepath.Join(dir, CallsDir)
	if err := os.MkdirAll(calls, dirMode); err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		at := filepath.Join(calls, fmt.Sprintf("%s%s-c%d", runPrefix, filepath.Base(dir), n))
		if err := os.Mkdir(at, dirMode); !errors.Is(err, fs.ErrExist) {
			return createAt(at, err)
		}
	}
}
