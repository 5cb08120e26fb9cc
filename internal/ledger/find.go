package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Find turns a RUN argument into a run directory: a path from the working
// directory or, as reports name it, from the workspace root, or the id of a run
// below that root. It never picks one by itself.
func Find(root, arg string) (string, error) {
	if arg == "" {
		return "", fmt.Errorf("no run named%s", known(root))
	}
	places := []string{arg}
	if !filepath.IsAbs(arg) {
		places = append(places, filepath.Join(root, arg))
	}
	if arg == filepath.Base(arg) {
		places = append(places, runDir(root, arg))
	}
	for _, dir := range places {
		if _, err := os.Stat(filepath.Join(dir, JournalFile)); err == nil {
			return filepath.Abs(dir)
		}
	}
	return "", fmt.Errorf("%q is neither a run directory nor the id of a run in %s%s",
		arg, filepath.Join(root, filepath.FromSlash(ReportsDir)), known(root))
}

func runDir(root, id string) string {
	return filepath.Join(root, filepath.FromSlash(ReportsDir), runPrefix+strings.TrimPrefix(id, runPrefix))
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
