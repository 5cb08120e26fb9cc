package report

import (
	"fmt"

	"orchestrate/internal/shellword"
)

// How the run stood when the report was made.
const (
	Ended   = "ended"
	Running = "running"
	CutOff  = "cut-off" // it has not ended and no engine carries it on
)

// interim reports whether the run had not ended.
func (r Report) interim() bool { return r.Standing == Running || r.Standing == CutOff }

// openNeeds says what a run that has not ended needs.
func openNeeds(r Report) string {
	if r.Standing == CutOff {
		return fmt.Sprintf("the run was cut off: its engine is gone; next: orchestrate resume %s", shellword.Quote(r.RunID))
	}
	return ""
}

// standing is what the reader of an interim report must know first.
func (r Report) standing() string {
	if r.Standing == CutOff {
		return fmt.Sprintf("**Not ended: cut off.** Nobody has judged this run, and no engine carries it on. This is what it had recorded when this was asked for; `orchestrate resume %s` goes on with it.", shellword.Quote(r.RunID))
	}
	return fmt.Sprintf("**Not ended: still running.** Nobody has judged this run yet. This is what it had recorded when this was asked for; `orchestrate wait %s` waits for its end.", shellword.Quote(r.RunID))
}
