package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/engine"
	"orchestrate/internal/integrate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
)

// sayWork says what became of an ended run's work: what was integrated, and how the rest
// can be.
func sayWork(w io.Writer, run *ledger.Run, s ledger.State) error {
	if err := sayMoving(w, run, s); err != nil {
		return err
	}
	if s.Phase != ledger.PhaseEnded || s.Verdict != arbiter.Pass && s.Verdict != arbiter.Unreviewed {
		return nil
	}
	there, err := engine.Brought(run)
	if err != nil {
		return err
	}
	var done, waits []string
	for _, j := range s.Jobs {
		left, err := leftPatch(run, j)
		switch {
		case err != nil:
			return err
		case there[j.ID]:
			done = append(done, j.ID)
		case left:
			waits = append(waits, j.ID)
		}
	}
	if len(done) > 0 {
		fmt.Fprintf(w, "integrated: %s\n", named(done))
	}
	if len(waits) > 0 {
		fmt.Fprintf(w, "waits to be integrated: %s; look at it and take it over with: orchestrate integrate %s\n", named(waits), s.RunID)
	}
	return nil
}

// sayBrought tells who reads a report which work was integrated since the report was made.
func sayBrought(w io.Writer, run *ledger.Run) error {
	brought, err := engine.Brought(run)
	if err != nil {
		return failure(err)
	}
	var jobs []string
	for _, j := range run.State().Jobs {
		if brought[j.ID] {
			jobs = append(jobs, j.ID)
		}
	}
	if len(jobs) > 0 {
		fmt.Fprintf(w, "integrated since: %s\n", named(jobs))
	}
	return nil
}

// sayMoving says of an ended run who has it, and else that an integration of it was cut off.
func sayMoving(w io.Writer, run *ledger.Run, s ledger.State) error {
	if s.Phase != ledger.PhaseEnded {
		return nil
	}
	in, cut, err := engine.Intended(run)
	if err != nil {
		return err
	}
	owned, err := ledger.Owned(run.Dir)
	if err != nil {
		return err
	}
	who, _, err := ledger.Holder(run.Dir)
	switch {
	case err != nil:
		return err
	case owned:
		fmt.Fprintf(w, "process %d integrates it, cleans up or goes on with it\n", who.PID)
	case cut:
		fmt.Fprintln(w, untrusted.From(integrate.CutOff(in)).Line(0))
	}
	return nil
}

// leftPatch reports whether a job left work in a tree of its own.
func leftPatch(run *ledger.Run, j ledger.JobState) (bool, error) {
	if j.Status != ledger.Success {
		return false, nil
	}
	info, err := os.Lstat(run.Path(ledger.JobPath(j.ID, ledger.PatchFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || info.Size() == 0 {
		return false, err
	}
	var status ledger.JobStatus
	there, err := run.ReadJSON(ledger.JobPath(j.ID, ledger.StatusFile), &status)
	return there && status.Worktree != nil, err
}

// named lists jobs, as many as a message may.
func named(ids []string) string {
	more := ""
	if n := len(ids) - namedJobs; n > 0 {
		ids, more = ids[:namedJobs], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(ids, ", ") + more
}
