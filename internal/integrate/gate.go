package integrate

import (
	"fmt"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/shellword"
)

// Way is what a run's verdict leads to.
type Way struct {
	Ask    bool     // a person has to say yes first
	Why    []string // what keeps its work from being integrated, nil = nothing
	Next   []string
	Judged bool // the run has come to its end, and it is its verdict that keeps it
}

// Gate says whether the work of a run may be integrated. written is the verdict in the
// arbiter's folder.
func Gate(st ledger.State, written string) Way {
	resume := "orchestrate resume " + st.RunID
	undone := 0
	for _, j := range st.Jobs {
		if !j.Status.Settled() || j.Status == ledger.Interrupted {
			undone++
		}
	}
	switch {
	case st.Phase != ledger.PhaseEnded:
		return Way{Why: []string{"the run was cut off before its end"}, Next: []string{resume}}
	case written != st.Verdict:
		return Way{Why: []string{fmt.Sprintf("%s says %q and the journal says %q: one of them was changed afterwards", ledger.JobPath(ledger.ArbiterJob, ledger.VerdictFile), written, st.Verdict)}}
	case undone > 0:
		return Way{Why: []string{fmt.Sprintf("of %d jobs %d are not done", len(st.Jobs), undone)}, Next: []string{resume}}
	}
	switch st.Verdict {
	case arbiter.Pass:
		return Way{}
	case arbiter.Unreviewed:
		return Way{Ask: true}
	case arbiter.Rehearsal:
		return Way{Judged: true, Why: []string{"the run was a rehearsal: what its jobs left is the stand-in's"}, Next: []string{"orchestrate run " + shellword.Quote(st.SpecPath)}}
	case arbiter.Fail:
		return Way{Judged: true, Why: []string{"the verdict is fail: " + ledger.JobPath(ledger.ArbiterJob, ledger.VerdictFile) + " and " + ledger.ReportFile + " say why"}, Next: []string{"orchestrate report " + st.RunID, resume + " --retry-failed"}}
	}
	return Way{Judged: true, Why: []string{fmt.Sprintf("the verdict is %s: nobody could judge the work", st.Verdict)}, Next: []string{"orchestrate report " + st.RunID, resume}}
}
