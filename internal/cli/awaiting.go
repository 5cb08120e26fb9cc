package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/shellword"
	"orchestrate/internal/untrusted"
)

// sayAway says which jobs of a run are with the hosting session, and the way on.
func sayAway(w io.Writer, run *ledger.Run, name string, now time.Time) error {
	away, err := handoff.Look(run)
	if err != nil {
		return err
	}
	var free []string
	wanted, out := false, false
	for _, a := range away {
		if a.Free() {
			free = append(free, a.Request.Job)
		}
		wanted, out = wanted || a.Wanted(now), out || a.Submission == nil
	}
	if len(free) > 0 {
		fmt.Fprintf(w, "awaits the hosting session: %s\n", untrusted.From(strings.Join(free, ", ")).Line(0))
	}
	for _, a := range away {
		if line := heldBy(a, name, now); line != "" {
			fmt.Fprintln(w, line)
		}
	}
	if wanted {
		fmt.Fprintf(w, "take one: %s\n", handoff.NextCommand(shellword.Quote(name)))
	}
	if out {
		fmt.Fprintf(w, "hand it in: %s\n", handoff.SubmitCommand(shellword.Quote(name), "JOB", "ID"))
	}
	return nil
}

// heldBy says who has a job of the hosting session, "" where nobody does.
func heldBy(a handoff.Away, name string, now time.Time) string {
	const shape = "15:04:05 MST"
	job := a.Request.Job
	switch {
	case a.Submission != nil:
		return fmt.Sprintf("job %s was handed in and is not taken in yet", job)
	case a.Unproven(now):
		return fmt.Sprintf("job %s: the time of whoever took it (attempt %s) ended at %s, and nothing shows that its writer has ended, so nobody else gets it; hand its result in late, or say that it has ended: orchestrate submit %s %s --attempt %s --failed \"it has ended\"",
			job, a.Request.Attempt, a.Lease.Until.Local().Format(shape), shellword.Quote(name), job, a.Request.Attempt)
	case a.Over(now):
		return fmt.Sprintf("job %s: the time of whoever took it ended at %s; `next` gives it to another", job, a.Lease.Until.Local().Format(shape))
	case a.Lease != nil && a.Lease.By != "":
		return fmt.Sprintf("job %s was taken by %s until %s", job, untrusted.From(a.Lease.By).Line(100), a.Lease.Until.Local().Format(shape))
	case a.Lease != nil:
		return fmt.Sprintf("job %s was taken, until %s", job, a.Lease.Until.Local().Format(shape))
	}
	return ""
}
