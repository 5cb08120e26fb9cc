package ui

import (
	"fmt"
	"time"

	"orchestrate/internal/ledger"
)

// transition is the line for a record that moves something, else "".
func transition(r ledger.Record) string {
	switch r.Kind {
	case ledger.KindIntent:
		return started(r)
	case ledger.KindAttemptEnded:
		return fmt.Sprintf("%-20s attempt %d ended: %s; another follows%s", r.Job, r.Attempt, why(r), at(r))
	case ledger.KindSettled:
		return fmt.Sprintf("%-20s %s", r.Job, ended(r))
	case ledger.KindExpanded:
		return listed(r)
	case ledger.KindResumed:
		return "the run goes on"
	case ledger.KindApproved:
		return fmt.Sprintf("%-20s approved (by %s)", r.Job, r.Approval.By)
	case ledger.KindRequeued:
		return fmt.Sprintf("%-20s queued again: %s", r.Job, r.Text.Line(lineLimit))
	case ledger.KindNote:
		switch {
		case r.Job != "":
			return fmt.Sprintf("%-20s note: %s", r.Job, r.Text.Line(0))
		case r.About == ledger.AboutStop:
			return r.Text.Line(0)
		}
		return "note: " + r.Text.Line(0)
	case ledger.KindRunEnded:
		return "verdict: " + r.Verdict
	}
	return ""
}

// at says when the next attempt comes, where somebody who watches would wonder.
func at(r ledger.Record) string {
	if r.Next == nil || r.Next.NotBefore == nil || r.Next.NotBefore.Sub(r.At) < time.Second {
		return ""
	}
	return r.Next.NotBefore.Local().Format(", not before 2006-01-02 15:04:05 MST")
}

func started(r ledger.Record) string {
	text := fmt.Sprintf("%-20s started", r.Job)
	if r.Route != nil {
		text += " on " + r.Route.Adapter()
		if r.Route.Model != "" {
			text += " (" + line(r.Route.Model) + ")"
		}
	}
	if r.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", r.Attempt)
	}
	return text
}

func ended(r ledger.Record) string {
	if r.Status == ledger.Success {
		return string(r.Status) + cameTo(r.Settled)
	}
	return fmt.Sprintf("%s: %s", r.Status, why(r))
}

func why(r ledger.Record) string {
	if r.Text.Empty() {
		return string(r.Reason)
	}
	return fmt.Sprintf("%s: %s", r.Reason, r.Text.Line(lineLimit))
}
