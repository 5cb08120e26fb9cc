package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Strays lists what is beside the run, in its directory and among its trees, and is
// neither this program's nor belongs to one of the jobs: absolute paths. A name that
// begins with a dot is none, since editors, file managers and this program itself
// leave such names while somebody only looks.
func (r *Run) Strays(trees string, jobs []string) (all []string, err error) {
	for _, place := range []struct {
		dir  string
		ours func(fs.DirEntry) bool
	}{
		{filepath.Dir(r.Dir), besideRun},
		{r.Dir, func(e fs.DirEntry) bool { return slices.Contains(jobs, e.Name()) || ofRun(e.Name()) }},
		{trees, func(e fs.DirEntry) bool { return isTree(e.Name(), jobs) }},
	} {
		entries, err := os.ReadDir(place.dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENAMETOOLONG) {
			return nil, err
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") && !place.ours(e) {
				all = append(all, filepath.Join(place.dir, e.Name()))
			}
		}
	}
	return all, nil
}

// besideRun reports whether an entry of the reports folder is a run or the history.
func besideRun(e fs.DirEntry) bool {
	return e.Name() == HistoryFile || e.IsDir() && strings.HasPrefix(e.Name(), runPrefix)
}

// ofRun reports whether a run directory has the name for something of its own.
func ofRun(name string) bool {
	switch name {
	case SpecFile, JobsFile, DefaultsFile, RuntimesFile, StateFile, JournalFile, ApprovalsFile,
		ReportFile, ReportJSONFile, ReportHTMLFile, SoFarFile, CheckoutFile, ReclaimedFile, RunLockFile, HandoffLock, AgentsFile, RequestMDFile, WorktreesDir, ArbiterJob, IntegrationJob:
		return true
	}
	return false
}

// isTree reports whether TreeName gives the name for an attempt of one of the jobs.
func isTree(name string, jobs []string) bool {
	return slices.ContainsFunc(jobs, func(job string) bool {
		rest, ok := strings.CutPrefix(name, job)
		if !ok || rest == "" {
			return ok
		}
		n, err := strconv.Atoi(strings.TrimPrefix(rest, ".a"))
		return err == nil && TreeName(job, n) == name
	})
}
