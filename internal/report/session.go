package report

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
)

// Session is what the files of a job's newest attempt say that the hosting session carries
// out, or has. It is the session's own word: nothing of it is proven.
type Session struct {
	Attempt    string     `json:"attempt"`    // to be given back with the result
	By         string     `json:"by"`         // who took it, as it named itself; "" = nobody, or it did not say
	TakenAt    *time.Time `json:"takenAt"`    // null = nobody took it
	Until      *time.Time `json:"until"`      // until when it is theirs
	HandedInAt *time.Time `json:"handedInAt"` // null = nothing was handed in
	Writes     bool       `json:"writes"`     // it may change files
	TimeoutMs  int64      `json:"timeoutMs"`  // for the account only; 0 = none
}

// unproven reports whether a writer's time is over and nobody has said that it has ended.
func (s Session) unproven(now time.Time) bool {
	return s.Writes && s.HandedInAt == nil && s.Until != nil && !now.Before(*s.Until)
}

// Text says who has an attempt that is with the session.
func (s Session) Text(now time.Time) string {
	const shape = "2006-01-02 15:04:05 MST"
	switch {
	case s.HandedInAt != nil:
		return "handed in at " + s.HandedInAt.UTC().Format(shape)
	case s.TakenAt == nil || s.Until == nil:
		return "nobody has it"
	case now.Before(*s.Until):
		return s.holder() + " has it until " + s.Until.UTC().Format(shape)
	case s.Writes:
		return s.holder() + " had it until " + s.Until.UTC().Format(shape) + ", and nothing shows that its writer has ended"
	}
	return s.holder() + " had it until " + s.Until.UTC().Format(shape)
}

func (s Session) holder() string { return cmp.Or(s.By, "the session") }

// awaits reports whether a job is with the hosting session.
func (j Job) awaits() bool { return j.Status.Status == ledger.Awaiting }

// free reports whether there is a job that somebody of the session could take now.
func (r Report) free() bool {
	for _, j := range r.Jobs {
		if s := j.Session; j.awaits() && s != nil && !s.unproven(r.asOf) && s.Next(r.RunID, j.Status.ID, r.asOf) != "" {
			return true
		}
	}
	return false
}

// Next is what can be done about a job that is with the session, "" = whoever has it is at
// it.
func (s Session) Next(run, job string, now time.Time) string {
	switch {
	case s.unproven(now):
		return fmt.Sprintf("hand its result in late, or, once it has ended without one: orchestrate submit %s %s --attempt %s --failed 'it has ended'", quote(run), quote(job), quote(s.Attempt))
	case s.HandedInAt == nil && (s.Until == nil || !now.Before(*s.Until)):
		return nextOfSession(run)
	}
	return ""
}

// sessionNeeds says what a person, or the session, must settle of a writer whose time is over.
func (r Report) sessionNeeds(j Job) string {
	s := j.Session
	if !j.awaits() || s == nil || !s.unproven(r.asOf) {
		return ""
	}
	return withNext(fmt.Sprintf("job %s is with the hosting session: %s", j.Status.ID, s.Text(r.asOf)), s.Next(r.RunID, j.Status.ID, r.asOf))
}

// sessions tells of the jobs that the hosting session carries out, or has.
func (r Report) sessions(p *page) {
	var rows [][]string
	for _, j := range r.Jobs {
		if s := j.Session; s != nil {
			rows = append(rows, []string{cell(j.Status.ID), cell(j.Status.Agent), prose(s.Text(r.asOf)), prose(s.late(j)), prose(j.constrained())})
		}
	}
	if rows == nil {
		return
	}
	p.heading("Carried out by the hosting session" + r.mark())
	p.say("Who did a job, with which model and at what cost, is what the session says. Nothing of it is a process of ours: no sandbox, no end by force, no proof of an end.\n")
	p.table([]string{"job", "agent", "who has it, or had", "timeout", "constrained"}, rows)
}

// late says how long the work took where the job has a timeout.
func (s Session) late(j Job) string {
	switch {
	case s.TimeoutMs == 0:
		return "none"
	case j.Status.TimedOut:
		return took(s.TimeoutMs) + ", handed in after it; it is for the account only"
	}
	return took(s.TimeoutMs) + ", for the account only"
}

func (j Job) constrained() string {
	if j.Status.Route == nil {
		return ""
	}
	return strings.Join(j.Status.Route.Constrained, "; ")
}

// request is what stands in place of a command for a job of the session.
func (in Input) request(job string) string {
	return "# carried out by the hosting session: its request is " + quote(path.Join(in.RunDir, ledger.JobPath(job, ledger.RequestFile)))
}

// nextOfSession is what the session types next.
func nextOfSession(run string) string { return handoff.NextCommand(quote(run)) }
