package ui

import (
	"slices"
	"sync"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// Outline is what a run's spec says and its records do not.
type Outline struct {
	Jobs    []Planned
	Slots   int  // how many attempts run at once, 0 = not known
	Arbiter bool // an arbiter is to judge
	USD     float64
	Tokens  int64
	Wall    time.Duration
}

// Planned is a job as the spec has it.
type Planned struct {
	ID        string
	After     []string // the jobs that it depends on
	Serialize string
	Runtime   string // as pinned, "" = it is not
	Program   bool   // a plain program: it calls no model
	Writes    bool   // it may change files
	AfterAll  bool   // those in After need only have ended
	Gathers   bool   // the engine makes its result of other jobs', and it is nobody's work
	List      string // the job whose foreach it is an item of, "" = none
	Number    int    // of that item, from 1
	Item      string // that item in a short line, "" = not known
}

// Live is a run as a person watches it: made from the ledger's records and from what the
// running attempts say, shown by View. It may be used by several goroutines.
type Live struct {
	mu      sync.Mutex
	version int // grows with every change

	out   Outline
	runID string
	order []string // ids as they are shown, without the arbiter
	jobs  map[string]*liveJob

	phase     string
	began     time.Time
	resumed   *time.Time // when this engine took it up, nil = it began it
	stopping  bool       // it was asked to
	rehearsal bool
	ended     *time.Time
	verdict   string
	paused    map[string]pause
	steps     []step // of the run
	notes     []remark
	said      []remark // by the engine, newest last
}

// remark is what was said of the run, and when.
type remark struct {
	text  string
	at    time.Time
	stays bool // a person must see it
}

// liveJob is one row.
type liveJob struct {
	Planned
	layer int

	status   ledger.Status
	why      string // of its end, or of the end of the attempt before
	attempt  int
	runtime  string
	model    string
	intended bool   // an attempt of it was decided on and has not ended
	holds    string // why the intended attempt cannot start yet
	began    *time.Time
	took     time.Duration // when it has settled
	due      *time.Time    // of the next attempt
	steps    []step
	agent    string // of the hosting session, that is to do it
	lease    lease  // who of the session has it
	doing    string // what its agent does or said last
	tool     bool   // that is a tool that it uses now
	used     usage
}

// step is something of the engine's own that is under way.
type step struct {
	name, of string
	since    time.Time
}

// pause is a runtime that gets no starts.
type pause struct {
	until  *time.Time // nil = for the rest of the run
	reason runtime.Reason
}

// NewLive is a run of which nothing is known yet.
func NewLive() *Live {
	return &Live{jobs: map[string]*liveJob{}, paused: map[string]pause{}}
}

// Plan takes in what the spec says.
func (l *Live) Plan(o Outline) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
	l.out = o
	for _, p := range o.Jobs {
		l.job(p.ID).Planned = p
	}
	l.arrange()
}

// job finds a job; one that was not known is added.
func (l *Live) job(id string) *liveJob {
	j, ok := l.jobs[id]
	if !ok {
		j = &liveJob{Planned: Planned{ID: id}, status: ledger.Queued}
		l.jobs[id] = j
		if id != ledger.ArbiterJob {
			l.order = append(l.order, id)
		}
	}
	return j
}

// arrange puts every job below what it depends on, layer by layer, and within a layer
// in the spec's order.
func (l *Live) arrange() {
	done := map[string]bool{}
	for _, id := range l.order {
		l.layer(id, done)
	}
	slices.SortStableFunc(l.order, func(a, b string) int { return l.jobs[a].layer - l.jobs[b].layer })
}

// layer is the length of the longest way to a job. Who is asked about meanwhile counts
// as the first layer, so a circle ends.
func (l *Live) layer(id string, done map[string]bool) int {
	j := l.jobs[id]
	if done[id] {
		return j.layer
	}
	done[id] = true
	for _, dep := range j.After {
		if l.jobs[dep] != nil {
			j.layer = max(j.layer, l.layer(dep, done)+1)
		}
	}
	return j.layer
}

// Record takes in the next record of the ledger.
func (l *Live) Record(r ledger.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
	switch r.Kind {
	case ledger.KindRunStarted:
		l.runStarted(r)
	case ledger.KindResumed:
		at := r.At
		l.phase, l.resumed, l.stopping = ledger.PhaseRunning, &at, false
		l.ended, l.verdict, l.steps = nil, "", nil
	case ledger.KindArbitrating:
		l.phase = ledger.PhaseArbitrating
	case ledger.KindParked:
		l.phase, l.steps = ledger.PhaseAwaiting, nil
	case ledger.KindRunEnded:
		at := r.At
		l.phase, l.ended, l.verdict, l.steps = ledger.PhaseEnded, &at, r.Verdict, nil
	case ledger.KindNote:
		l.note(r)
	case ledger.KindProgress:
		l.progress(r)
	case ledger.KindExpanded:
		l.expanded(r)
	default:
		if r.Job != "" {
			l.jobMoved(l.job(r.Job), r)
		}
	}
}

func (l *Live) runStarted(r ledger.Record) {
	l.phase, l.began = ledger.PhaseRunning, r.At
	if r.Run == nil {
		return
	}
	l.runID, l.rehearsal = r.Run.RunID, r.Run.Rehearse
	for _, id := range r.Run.Jobs {
		l.job(id)
	}
	l.arrange()
}

func (l *Live) jobMoved(j *liveJob, r ledger.Record) {
	switch r.Kind {
	case ledger.KindIntent:
		j.intend(r)
		l.unpause(r)
	case ledger.KindStarted:
		at := r.At
		j.status, j.began, j.holds, j.steps = ledger.Running, &at, "", nil
	case ledger.KindAwaiting:
		at := r.At
		j.status, j.began, j.holds, j.steps, j.lease = ledger.Awaiting, &at, "", nil, lease{}
	case ledger.KindRequeued:
		j.status, j.why, j.intended, j.due, j.took = ledger.Queued, r.Text.Line(lineLimit), false, nil, 0
		j.doing, j.steps = "", nil
	case ledger.KindAttemptEnded, ledger.KindSettled:
		j.end(r)
		l.pause(r)
	}
}

func (j *liveJob) intend(r ledger.Record) {
	at := r.At
	j.attempt, j.intended, j.began, j.due, j.why, j.doing, j.holds = r.Attempt, true, &at, nil, "", "", ""
	if r.Route != nil {
		j.runtime, j.model, j.agent = r.Route.Runtime, line(r.Route.Model), line(r.Route.Agent)
	}
	j.used.begin()
}

// end takes in the end of an attempt, or of the job.
func (j *liveJob) end(r ledger.Record) {
	if j.intended && !j.Program {
		j.used.end(r.Settled)
	}
	j.intended, j.holds, j.doing, j.steps = false, "", "", nil
	j.why = why(r)
	if r.Status == ledger.Success {
		j.why = ""
		if r.Settled != nil {
			j.why = line(r.Settled.Decided)
		}
	}
	if r.Settled != nil && r.Settled.Model != "" {
		j.model = line(r.Settled.Model)
	}
	if r.Kind == ledger.KindAttemptEnded {
		j.status = ledger.Queued
		if r.Next != nil {
			j.due = r.Next.NotBefore
		}
		return
	}
	j.status = r.Status
	if j.began != nil {
		j.took = r.At.Sub(*j.began)
	}
}

func (l *Live) pause(r ledger.Record) {
	if r.Next == nil || r.Next.Pause == "" {
		return
	}
	have, held := l.paused[r.Next.Pause]
	if !held || have.until != nil && (r.Next.Until == nil || r.Next.Until.After(*have.until)) {
		l.paused[r.Next.Pause] = pause{r.Next.Until, r.Reason}
	}
}

// unpause forgets a pause that is over: its runtime starts something.
func (l *Live) unpause(r ledger.Record) {
	if r.Route != nil {
		delete(l.paused, r.Route.Runtime)
	}
}

// note keeps what a person should know, once; one about an attempt that was decided on
// and does not run says what holds it.
func (l *Live) note(r ledger.Record) {
	text := r.Text.Line(0)
	if r.About == ledger.AboutStop { // the head says it for as long as it is so
		l.stopping = true
		return
	}
	who := "note"
	if r.Job != "" {
		who = line(r.Job)
		if j := l.job(r.Job); j.intended && j.status == ledger.Queued {
			j.holds = text
		}
	}
	text = who + ": " + text
	l.notes = slices.DeleteFunc(l.notes, func(n remark) bool { return n.text == text }) // a resumed run says it again
	l.notes = append(l.notes, remark{text, r.At, r.About != ""})
}

func (l *Live) progress(r ledger.Record) {
	if r.Progress == nil {
		return
	}
	at := &l.steps
	if r.Job != "" {
		at = &l.job(r.Job).steps
	}
	p := step{name: r.Progress.Step, of: line(r.Progress.Of), since: r.At}
	*at = slices.DeleteFunc(*at, func(s step) bool { return s.name == p.name && s.of == p.of })
	if !r.Progress.Done {
		*at = append(*at, p)
	}
}

// Event takes in what a running attempt said.
func (l *Live) Event(job string, attempt int, e runtime.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j, ok := l.jobs[job]
	if !ok || j.attempt != attempt || !j.intended {
		return
	}
	switch e.Kind {
	case runtime.EventToolCall, runtime.EventText, runtime.EventDenied, runtime.EventRetry, runtime.EventWarning:
		j.doing = doing(e)
	case runtime.EventToolDone:
		if j.tool {
			j.doing = "did " + j.doing
		}
	case runtime.EventAnswer:
		j.doing = "has answered"
	case runtime.EventSession, runtime.EventModel:
		if e.Model != "" {
			j.model = line(e.Model)
		}
	case runtime.EventUsage:
		j.used.now = e.Usage
	default:
		return
	}
	j.tool = e.Kind == runtime.EventToolCall
	l.version++
}

// doing is an event in the few words for which a row has room.
func doing(e runtime.Event) string {
	switch e.Kind {
	case runtime.EventToolCall:
		text := line(e.Tool)
		if !e.Text.Empty() {
			text += ": " + e.Text.Line(lineLimit)
		}
		return text
	case runtime.EventText:
		return "says: " + e.Text.Line(lineLimit)
	}
	return Saying(e)
}

// Say takes in a line that the engine said to who started it.
func (l *Live) Say(text string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
	l.said = append(l.said, remark{text: line(text), at: at})
	l.said = l.said[max(0, len(l.said)-saidLines):]
}

// saidLines is how many remarks are shown at once, and saidFor is for how long if a
// person can do without them.
const (
	saidLines = 2
	saidFor   = 30 * time.Second
)

// Attempt is one that runs.
type Attempt struct {
	Job string
	N   int
}

// Running are the attempts whose events are worth reading now.
func (l *Live) Running() (all []Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, j := range l.jobs {
		if j.intended && j.status == ledger.Running {
			all = append(all, Attempt{id, j.attempt})
		}
	}
	return all
}

// Version tells two states apart: it grows with every change.
func (l *Live) Version() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version
}
