package report

import (
	"fmt"

	"orchestrate/internal/ledger"
	"orchestrate/internal/shellword"
)

// How the run stood when the report was made.
const (
	Ended    = "ended"
	Running  = "running"
	Stopping = "stopping" // it goes on until what runs has ended, which it was asked to
	Awaiting = "awaiting" // parked: nothing can go on before the hosting session acts, and no engine is there
	CutOff   = "cut-off"  // it has not ended and no engine carries it on
)

// interim reports whether the run had not ended.
func (r Report) interim() bool { return r.goesOn() || r.Standing == Awaiting || r.Standing == CutOff }

// goesOn reports whether an engine carried the run on.
func (r Report) goesOn() bool { return r.Standing == Running || r.Standing == Stopping }

// openNeeds says what a run that has not ended needs, or was ended early.
func openNeeds(r Report) string {
	stopped := r.ExitStatus != nil && *r.ExitStatus == exitInterrupted
	switch {
	case r.Planned && r.Standing == CutOff:
		return "the planning was cut off: its engine is gone; next: " + r.giveAgain()
	case r.Planned && stopped:
		return "the planning was stopped on request; next: " + r.giveAgain()
	}
	if r.Standing == CutOff {
		return fmt.Sprintf("the run was cut off: its engine is gone; next: orchestrate resume %s", shellword.Quote(r.RunID))
	}
	if stopped {
		return fmt.Sprintf("the run was stopped on request; next: orchestrate resume %s goes on with what is left", shellword.Quote(r.RunID))
	}
	return ""
}

// giveAgain is the way on from a run that planned a request and did not come to its end.
func (r Report) giveAgain() string {
	return "give the request again; its words are in " + ledger.DraftDir + "/" + ledger.RequestMDFile
}

// command shows the report to whoever does not read it.
func (r Report) command() string { return "orchestrate report " + shellword.Quote(r.RunID) }

// standing is what the reader of an interim report must know first.
func (r Report) standing() string {
	if r.Planned && r.Standing == CutOff {
		return "**Not ended: cut off.** The request was being planned, and no engine is there any more; such a run is not gone on with: " + r.giveAgain() + "."
	}
	if r.Standing == CutOff {
		return fmt.Sprintf("**Not ended: cut off.** Nobody has judged this run, and no engine carries it on. This is what it had recorded when this was asked for; `orchestrate resume %s` goes on with it.", shellword.Quote(r.RunID))
	}
	if r.Standing == Awaiting {
		return fmt.Sprintf("**Not ended: it awaits the hosting session.** Nobody has judged this run yet, and nothing of it can go on before its agents hand in what they have been given; no engine is there meanwhile. `%s` gives out what nobody has.", nextOfSession(r.RunID))
	}
	if r.Standing == Stopping {
		return fmt.Sprintf("**Not ended: being stopped.** It was asked to stop, and what runs is given the time to end. This is what it had recorded when this was asked for; `orchestrate wait %s` waits for its end.", shellword.Quote(r.RunID))
	}
	return fmt.Sprintf("**Not ended: still running.** Nobody has judged this run yet. This is what it had recorded when this was asked for; `orchestrate wait %s` waits for its end.", shellword.Quote(r.RunID))
}
