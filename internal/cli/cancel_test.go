package cli

import (
	"strings"
	"testing"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// What was ended is told with its proof; what is not proven to have ended is named,
// and makes the command fail.
func TestEndOf(t *testing.T) {
	run, err := ledger.Create(t.TempDir(), time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	tree, branch := "worktrees/edit", "orchestrate/x/edit"
	for _, tc := range []struct {
		job    ledger.JobState
		status *ledger.JobStatus // nil = none was left
		says   string
		proven bool
	}{
		{
			ledger.JobState{ID: "edit", Status: ledger.Interrupted},
			&ledger.JobStatus{Status: ledger.Interrupted, Proof: &ledger.Proof{Level: "cgroup", Gone: true}, Worktree: &tree, Branch: &branch},
			"its processes are gone (proof: cgroup); its work is in " + run.Path(tree) + " (branch orchestrate/x/edit)", true,
		},
		{ledger.JobState{ID: "early", Status: ledger.Interrupted}, &ledger.JobStatus{Status: ledger.Interrupted}, "never ran", true},
		{ledger.JobState{ID: "stays", Status: ledger.Failed}, &ledger.JobStatus{Status: ledger.Failed, Proof: &ledger.Proof{}}, "not proven gone; see " + run.Path("stays/exit.json"), false},
		{ledger.JobState{ID: "runs", Status: ledger.Running}, &ledger.JobStatus{Status: ledger.Interrupted}, "nothing says that it has ended; see " + run.JobDir("runs"), false},
		{ledger.JobState{ID: "lost", Status: ledger.Queued}, nil, "nothing says that it has ended", false},
		{ledger.JobState{ID: "held", Status: ledger.Blocked, Reason: runtime.BlockedTreeUnproven, Evidence: untrusted.From("pid 7 is left")}, nil, "pid 7 is left", false},
	} {
		if tc.status != nil {
			_, lock, err := run.BeginAttempt(tc.job.ID, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Close()
			if err := run.WriteJSON(ledger.JobPath(tc.job.ID, ledger.StatusFile), tc.status); err != nil {
				t.Fatal(err)
			}
		}
		line, proven, err := endOf(run, tc.job)
		if err != nil || proven != tc.proven || !strings.Contains(line, tc.says) {
			t.Errorf("%s: %q, proven %v (%v); want %q, %v", tc.job.ID, line, proven, err, tc.says, tc.proven)
		}
	}
}
