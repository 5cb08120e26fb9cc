package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/ledger"
)

// Files are for their owner's eyes only.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// schemaVersion is that of every file that this package writes.
const schemaVersion = 1

// Run is a worker run: the folder in which a coordinator collects what came of its calls.
type Run struct {
	ID   string // name of the folder
	Dir  string // absolute
	Root string // workspace root, absolute
}

// marker is run.json: it says that a folder is a worker run, and whose.
type marker struct {
	SchemaVersion int       `json:"schemaVersion"`
	ID            string    `json:"id"`
	Root          string    `json:"root"` // workspace root, absolute
	CreatedAt     time.Time `json:"createdAt"`
}

// NoRunError says that an argument names no worker run. It may still name a run of
// another kind.
type NoRunError struct {
	Arg   string
	Root  string
	Known []string // ids of the newest, newest first
}

func (e *NoRunError) Error() string {
	known := "there is none yet: orchestrate new-run makes one"
	if len(e.Known) > 0 {
		known = "the newest: " + strings.Join(e.Known, ", ") + "; orchestrate new-run makes another"
	}
	return fmt.Sprintf("%q is neither the folder of a worker run nor the id of one in %s; %s", e.Arg, runsDir(e.Root), known)
}

func runsDir(root string) string {
	return filepath.Join(root, filepath.FromSlash(ledger.WorkerRunsDir))
}

// New makes a worker run below a workspace root, named after now. Git is not shown it.
func New(root string, now time.Time) (Run, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return Run{}, err
	}
	runs := runsDir(root)
	if err := os.MkdirAll(runs, dirMode); err != nil {
		return Run{}, fmt.Errorf("no place for a worker run: %w", err)
	}
	hidden := filepath.Join(filepath.Dir(runs), ".gitignore")
	if _, err := os.Lstat(hidden); errors.Is(err, fs.ErrNotExist) {
		if err := writeWhole(hidden, []byte("*\n")); err != nil {
			return Run{}, fmt.Errorf("no place for a worker run: %w", err)
		}
	}
	dir, err := makeDir(filepath.Join(runs, now.UTC().Format("20060102-150405")))
	if err != nil {
		return Run{}, fmt.Errorf("no place for a worker run: %w", err)
	}
	r := Run{ID: filepath.Base(dir), Dir: dir, Root: root}
	if err := os.Mkdir(filepath.Join(dir, ledger.TasksDir), dirMode); err != nil {
		return Run{}, err
	}
	// Last: without it the folder is no worker run.
	return r, writeJSON(filepath.Join(dir, ledger.WorkerFile), marker{SchemaVersion: schemaVersion, ID: r.ID, Root: root, CreatedAt: now.UTC()})
}

// makeDir makes the first free name; runs that start in the same second get a number.
func makeDir(base string) (string, error) {
	dir := base
	for n := 2; ; n++ {
		err := os.Mkdir(dir, dirMode)
		if !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
		dir = fmt.Sprintf("%s-%d", base, n)
	}
}

// Open finds a worker run by the path of its folder, from cwd or from the workspace root,
// or by its id. NoRunError where there is none.
func Open(root, cwd, arg string) (Run, error) {
	places := []string{arg}
	if !filepath.IsAbs(arg) {
		places = []string{filepath.Join(cwd, arg), filepath.Join(root, arg)}
	}
	if arg != "" && arg == filepath.Base(arg) {
		places = append(places, filepath.Join(runsDir(root), arg))
	}
	for _, dir := range places {
		r, err := open(dir)
		if arg == "" || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return r, err
	}
	return Run{}, &NoRunError{Arg: arg, Root: root, Known: newest(root)}
}

func open(dir string) (Run, error) {
	file := filepath.Join(dir, ledger.WorkerFile)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || notFolder(dir) {
		return Run{}, fs.ErrNotExist
	}
	if err != nil {
		return Run{}, err
	}
	var m marker
	if err := json.Unmarshal(data, &m); err != nil || m.ID == "" || m.Root == "" {
		return Run{}, fmt.Errorf("%s does not say whose worker run this is; orchestrate new-run makes another", file)
	}
	dir, err = filepath.Abs(dir)
	return Run{ID: m.ID, Dir: dir, Root: m.Root}, err
}

func notFolder(dir string) bool {
	info, err := os.Stat(dir)
	return err != nil || !info.IsDir()
}

// newest are the ids of the newest worker runs, for an error message.
func newest(root string) (ids []string) {
	entries, err := os.ReadDir(runsDir(root))
	if err != nil {
		return nil // there are none that could be named
	}
	for _, e := range slices.Backward(entries) {
		if _, err := open(filepath.Join(runsDir(root), e.Name())); err == nil && len(ids) < 5 {
			ids = append(ids, e.Name())
		}
	}
	return ids
}

// tasksDir is the folder of what came of the tasks.
func (r Run) tasksDir() string { return filepath.Join(r.Dir, ledger.TasksDir) }
