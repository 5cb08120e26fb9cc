package ui

import (
	"fmt"
	"strings"
	"time"

	"orchestrate/internal/figure"
	"orchestrate/internal/ledger"
)

// row is what is shown of one job.
type row struct {
	id     string
	layer  int
	status string // a ledger status, or starting
	time   string
	tokens string
	cost   string
	on     string // runtime and model
	now    string // what it does, what it waits for, or why it ended; "" = nothing to say
	work   bool   // somebody does it: it is not the engine that makes it of other jobs' results
	rank   int    // 0 = moves now; what has a higher one is left out first where there is no room
}

const starting = "starting"

// rows are those of all jobs but for what was not needed, what they depend on first; the arbiter is the last.
func (l *Live) rows(now time.Time) []row {
	all := make([]row, 0, len(l.order)+1)
	for _, id := range l.order {
		if j := l.jobs[id]; j.status != ledger.Skipped {
			all = append(all, l.row(j, now))
		}
	}
	if j, ok := l.jobs[ledger.ArbiterJob]; ok || l.out.Arbiter {
		if !ok {
			j = &liveJob{Planned: Planned{ID: ledger.ArbiterJob}, status: ledger.Queued}
		}
		all = append(all, l.row(j, now))
	}
	return all
}

func (l *Live) row(j *liveJob, now time.Time) row {
	r := row{id: j.named(), work: !j.Gathers, layer: j.layer, status: string(j.status), on: j.on()}
	r.tokens, r.cost = j.spent()
	switch {
	case j.status == ledger.Running:
		r.now, r.time = j.does(now), span(now.Sub(*j.began))
	case j.status.Settled():
		if r.rank, r.now = 4, j.why; j.status != ledger.Success {
			r.rank = 1
		}
		if j.began != nil {
			r.time = figure.Took(j.took)
		}
	case j.status == ledger.Awaiting:
		r.rank, r.now, r.time = 1, j.awaits(now), span(now.Sub(*j.began))
	case j.intended || len(j.steps) > 0:
		r.status, r.now = starting, j.starts(now)
		if j.began != nil {
			r.time = span(now.Sub(*j.began))
		}
	default:
		var free bool
		r.now, free = l.waits(j, now)
		if r.rank = 3; free {
			r.rank = 2
		}
	}
	return r
}

// on is where its newest attempt runs, or ran.
func (j *liveJob) on() string {
	text := strings.TrimSpace(line(j.runtime) + " " + j.model)
	if j.attempt > 1 {
		text += fmt.Sprintf(", attempt %d", j.attempt)
	}
	return text
}

// spent is what a job's tokens and cost columns say: nothing before it began, and of a
// program, which calls no model, that there is none.
func (j *liveJob) spent() (tokens, cost string) {
	switch {
	case !j.used.begun:
		return "", ""
	case j.Program:
		return "-", "-"
	}
	u := j.used.soFar()
	return u.tokens(), u.cost.show(dollars)
}

// does says what a running job is at, "" = that is not known.
func (j *liveJob) does(now time.Time) string {
	switch {
	case len(j.steps) > 0:
		return j.steps[len(j.steps)-1].text(now)
	case j.doing != "":
		return j.doing
	}
	return ""
}

// starts says what comes before the program of an attempt.
func (j *liveJob) starts(now time.Time) string {
	switch {
	case j.holds != "":
		return j.holds
	case len(j.steps) > 0:
		return j.steps[len(j.steps)-1].text(now)
	}
	return "is made ready"
}

// text says what is under way, with the time it has taken once that can be noticed.
func (s step) text(now time.Time) string {
	words := map[string]string{
		ledger.StepProbe:    "asking",
		ledger.StepWorktree: "making its worktree",
		ledger.StepSetup:    "setting up",
		ledger.StepCheck:    "check",
		ledger.StepReview:   "making the arbiter's evidence",
	}
	text, ok := words[s.name]
	if !ok {
		text = line(s.name)
	}
	if s.of != "" {
		text += " " + s.of
	}
	if took := now.Sub(s.since); took >= time.Second {
		text += " (" + span(took) + ")"
	}
	return text
}

// waits says what a queued job waits for; free means that no other job has to end first.
func (l *Live) waits(j *liveJob, now time.Time) (why string, free bool) {
	open := l.open(j)
	switch {
	case l.phase == ledger.PhaseEnded:
		return "was not started", false
	case j.ID == ledger.ArbiterJob:
		return "judges when all jobs are over", l.phase == ledger.PhaseArbitrating
	case len(open) > 0:
		return "after " + list(open, 4), false
	case j.due != nil && j.due.After(now):
		return fmt.Sprintf("attempt %d not before %s; %s", j.attempt+1, clock(*j.due, now), j.why), true
	}
	if why := l.heldBack(j, now); why != "" {
		return why, true
	}
	if key := l.holder(j); key != "" {
		return key, true
	}
	if n := l.taken(); l.out.Slots > 0 && n >= l.out.Slots {
		return fmt.Sprintf("waits for one of %d slots", l.out.Slots), true
	}
	if len(l.steps) > 0 {
		return "before it: " + l.steps[len(l.steps)-1].text(now), true
	}
	if j.why != "" {
		return fmt.Sprintf("attempt %d follows; %s", j.attempt+1, j.why), true
	}
	return "is next", true
}

// open are the jobs that have to succeed, or only to end, before j may start.
func (l *Live) open(j *liveJob) (ids []string) {
	for _, id := range j.After {
		if dep := l.jobs[id]; dep != nil && !dep.status.Well() && (!j.AfterAll || !dep.status.Settled()) {
			ids = append(ids, line(id))
		}
	}
	return ids
}

// heldBack says until when the runtime of a job gets no starts, "" when it gets some.
func (l *Live) heldBack(j *liveJob, now time.Time) string {
	name := j.runtime
	if name == "" {
		name = j.Runtime
	}
	p, held := l.paused[name]
	if !held || p.over(now) {
		return ""
	}
	return p.text(name, now)
}

func (p pause) over(now time.Time) bool { return p.until != nil && !p.until.After(now) }

func (p pause) text(name string, now time.Time) string {
	text := line(name) + " gets no new jobs "
	if p.until == nil {
		return text + fmt.Sprintf("in this run (%s)", p.reason)
	}
	return text + fmt.Sprintf("until %s (%s)", clock(*p.until, now), p.reason)
}

// holder says who has the serialize key that a job needs, "" = nobody.
func (l *Live) holder(j *liveJob) string {
	if j.Serialize == "" {
		return ""
	}
	for _, id := range l.order {
		if o := l.jobs[id]; o != j && o.Serialize == j.Serialize && o.intended {
			return fmt.Sprintf("not beside %s (serialize: %s)", line(id), line(j.Serialize))
		}
	}
	return ""
}

func (l *Live) taken() (n int) {
	for _, j := range l.jobs {
		if j.intended && j.status != ledger.Awaiting {
			n++
		}
	}
	return n
}

// tally counts rows by status, in a fixed order.
func tally(rows []row) string {
	n := map[string]int{}
	for _, r := range rows {
		if r.work {
			n[r.status]++
		}
	}
	var parts []string
	for _, s := range statuses {
		if n[s.name] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s.name], s.name))
		}
	}
	return strings.Join(parts, ", ")
}

// statuses are all that a row can be in, those that matter most first, with a sign for
// each and one of ASCII, and a colour.
var statuses = []struct{ name, sign, ascii, colour string }{
	{"failed", "✗", "x", red},
	{"blocked", "!", "!", yellow},
	{"interrupted", "~", "~", yellow},
	{"awaiting", "?", "?", yellow},
	{"running", "»", ">", cyan},
	{starting, "»", ">", cyan},
	{"queued", "-", "-", ""},
	{"success", "✓", "+", green},
}

// Colours are those that the terminal's owner has chosen for these names.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)
