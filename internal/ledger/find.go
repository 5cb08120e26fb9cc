package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Find turns a RUN argument into a run directory: a path from the working
// directory or, as reports name it, from the workspace root, or the id of a run
// below that root, of a call of a worker run too. It never picks one by itself.
func Find(root, arg string) (string, error) {
	if arg == "" {
		return "", fmt.Errorf("no run named%s", known(root))
	}
	places := []string{arg}
	if !filepath.IsAbs(arg) {
		places = append(places, filepath.Join(root, arg))
	}
	if arg == filepath.Base(arg) {
		places = append(places, DirOf(root, arg))
	}
	for _, dir := range places {
		if _, err := os.Stat(filepath.Join(dir, JournalFile)); err == nil {
			return filepath.Abs(dir)
		}
	}
	return "", fmt.Errorf("%q is neither a run directory nor the id of a run in %s%s",
		arg, filepath.Join(root, filepath.FromSlash(ReportsDir)), known(root))
}

// DirOf is where the run with this id is kept below a workspace root, if it is there.
func DirOf(root, id string) string {
	id = strings.TrimPrefix(id, runPrefix)
	if worker, n, ok := cutCall(id); ok {
		return filepath.Join(root, filepath.FromSlash(WorkerRunsDir), worker, CallsDir, runPrefix+worker+"-c"+n)
	}
	return filepath.Join(root, filepath.FromSlash(ReportsDir), runPrefix+id)
}

// cutCall parts the id of a call into that of its worker run and its number.
func cutCall(id string) (worker, n string, ok bool) {
	i := strings.LastIndex(id, "-c")
	if i <= 0 {
		return "", "", false
	}
	worker, n = id[:i], id[i+len("-c"):]
	return worker, n, n != "" && strings.Trim(n, "0123456789") == ""
}

// CallOf parts a run's id into that of its worker run and the number of its call in it; of
// any other run it is the id, and 0.
func CallOf(id string) (run string, call int) {
	worker, n, ok := cutCall(id)
	if call, err := strconv.Atoi(n); ok && err == nil {
		return worker, call
	}
	return id, 0
}

// known lists the newest runs, for an error message.
func known(root string) string {
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(ReportsDir)))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "; " + err.Error()
	}
	var ids []string
	for _, e := range slices.Backward(entries) {
		if isRunDir(e) && len(ids) < 5 {
			ids = append(ids, idOf(e.Name()))
		}
	}
	if len(ids) == 0 {
		return "; there is no run yet"
	}
	return "; the newest runs: " + strings.Join(ids, ", ")
}
