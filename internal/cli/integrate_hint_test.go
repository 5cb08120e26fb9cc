package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"orchestrate/internal/integrate"
	"orchestrate/internal/ledger"
)

// status says of a run that passed which work waits and which was integrated, and of one
// that did not nothing of that.
func TestStatusSaysWhatWaits(t *testing.T) {
	run := integratedRun(t, map[string]string{"own": "diff", "shared": "diff", "done": "diff", "failed": "diff"})
	tree := "worktrees/x"
	state := ledger.State{RunID: run.ID, Phase: ledger.PhaseEnded}
	for id, status := range map[string]ledger.JobStatus{
		"own": {Status: ledger.Success, Worktree: &tree}, "done": {Status: ledger.Success, Worktree: &tree},
		"shared": {Status: ledger.Success}, "failed": {Status: ledger.Failed, Worktree: &tree}, "none": {Status: ledger.Success, Worktree: &tree},
	} {
		status.ID = id
		state.Jobs = append(state.Jobs, ledger.JobState{ID: id, Status: status.Status})
		if err := run.WriteJSON(ledger.JobPath(id, ledger.StatusFile), status); err != nil {
			t.Fatal(err)
		}
	}
	if _, lock, err := run.BeginAttempt(ledger.IntegrationJob, 1); err != nil || lock.Close() != nil {
		t.Fatal(err)
	}
	in := integrate.Integration{Outcome: integrate.Integrated, Jobs: []integrate.Work{{Job: "done", Done: "c0ffee"}, {Job: "own"}}}
	if err := run.WriteJSON(ledger.JobPath(ledger.IntegrationJob, ledger.IntegrationFile), in); err != nil {
		t.Fatal(err)
	}
	for verdict, want := range map[string]string{
		"pass":       "integrated: done\nwaits to be integrated: own; look at it and take it over with: orchestrate integrate " + run.ID + "\n",
		"unreviewed": "integrated: done\nwaits to be integrated: own; look at it and take it over with: orchestrate integrate " + run.ID + "\n",
		"fail":       "", "rehearsal": "",
	} {
		state.Verdict = verdict
		var out strings.Builder
		want = fmt.Sprintf("process %d integrates it, cleans up or goes on with it\n", os.Getpid()) + want
		if err := sayWork(&out, run, state); err != nil || out.String() != want {
			t.Errorf("%s: %q, %v; want %q", verdict, out.String(), err, want)
		}
	}
}
