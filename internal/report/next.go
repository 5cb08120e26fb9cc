package report

import (
	"slices"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/shellword"
)

// The exit statuses of a run that was ended before its work was done.
const (
	exitWall        = 124
	exitInterrupted = 130
)

// mostAsked are the attempts after which an arbiter whose answers have not the form is
// not asked again before a person has looked.
const mostAsked = 2

// next is what to type next; or "person" and what only a person may decide; or "none".
// An agent types it without a thought, so it never pays for more than the run's budget
// and never goes on with what a person has stopped.
func (r Report) next(name string, brought map[string]bool) string {
	run := shellword.Quote(name)
	switch {
	case r.Standing == Awaiting, r.goesOn() && r.free():
		return nextOfSession(name)
	case r.goesOn():
		return "orchestrate wait --brief " + run
	}
	if r.Planned && (r.Standing == CutOff || r.held() != "" || r.open()) {
		return "person may want that you " + r.giveAgain()
	}
	if why := r.held(); why != "" {
		return "person may decide that the run goes on: " + why
	}
	waits := func(p Patch) bool { return !p.Applied && !brought[p.Job] }
	switch job := r.first(); {
	case r.Standing == CutOff || r.undone():
		return "orchestrate resume --brief " + run
	case r.Integrate() != "" && slices.ContainsFunc(r.Patches, waits):
		return r.Integrate()
	case job != "":
		return "orchestrate explain " + run + " " + shellword.Quote(job)
	case r.Verdict == arbiter.Fail || r.Verdict == arbiter.Blocked:
		return "person decides what to do about the verdict, for which see the report"
	}
	return "none"
}

// held says why a run that is not done does not go on unless a person wants it to;
// "" = nothing holds it.
func (r Report) held() string {
	status := 0
	if r.ExitStatus != nil {
		status = *r.ExitStatus
	}
	switch {
	case status == exitInterrupted, r.stopping:
		return "it was stopped on request"
	case status == exitWall, r.Budget != nil && r.Budget.Stopped != "":
		return "it stopped at its budget, which then counts anew"
	case r.open() && slices.ContainsFunc(r.rows(), func(j Job) bool { return j.Status.Reason == runtime.ReasonQuota }):
		return "it waits for a quota"
	}
	return ""
}

// open reports whether there are jobs of an ended run that were not done to their end.
func (r Report) open() bool { return !r.interim() && r.Totals.Interrupted+r.Totals.Queued > 0 }

// undone reports whether a resumed run has work left: jobs, or only the arbiter, of which
// an answer can be read perhaps when it is asked once more.
func (r Report) undone() bool {
	a := r.Arbiter
	return r.open() || a != nil && r.Verdict == arbiter.Blocked && a.Status.Reason == runtime.BlockedNoAnswer && a.Status.Attempts <= mostAsked
}

// first is the job to look at first: that failed, or is blocked by itself; or the arbiter.
func (r Report) first() string {
	for _, status := range []ledger.Status{ledger.Failed, ledger.Blocked} {
		for _, j := range r.rows() {
			if j.Status.Status == status && j.Status.Reason != runtime.BlockedDependency {
				return j.Status.ID
			}
		}
	}
	return ""
}
