package engine

import (
	"cmp"
	"slices"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// past is what the journal says of a run that goes on: the memory that the engine
// before this one had.
type past struct {
	run      ledger.RunInfo
	given    []ledger.Given             // approvals, which count for nothing any more
	jobs     map[string]*pastJob        // the arbiter too
	lists    map[string]ledger.Expanded // that jobs made for others, the newest of each
	noted    []string                   // what was worth knowing of the run as a whole
	told     []string                   // what happened to the run, for arbiter and report
	checkout []string                   // what changed in the shared checkout
	drawn    int                        // how much was told when evidence was drawn up
	shown    []string                   // what of it the arbiter's newest attempt was shown, nil = none was asked
	payments []payment                  // of all attempts that ended
	over     bool                       // the run has ended, and was not resumed since
	paused   map[string]time.Time       // runtimes that were held back, until when
	failures map[string]int             // failed attempts per runtime
	lives    []life                     // of the engines before
	parked   bool                       // its engine left because only the hosting session could act
	open     int                        // attempts that have not ended
	last     string                     // job of the newest attempt, "" when another ran beside it at its beginning
}

// life is the time that one engine worked on the run, as far as its records tell.
type life struct{ from, to time.Time }

// worked is how long engines worked on the run since it last ended.
func (p *past) worked() (d time.Duration) {
	for _, l := range p.lives {
		d += max(0, l.to.Sub(l.from))
	}
	return d
}

// alone reports whether the newest attempt of a job has not ended and nothing ran
// beside it so far.
func (p *past) alone(id string) bool { return p.open == 1 && p.last == id }

// pastJob is what it says of one job.
type pastJob struct {
	routes   []ledger.Route    // of its attempts, the first is attempt 1
	open     bool              // the newest attempt has not ended
	begun    time.Time         // when that was intended
	events   int64             // of it that are in the journal
	injected []string          // secrets that it left
	status   *ledger.JobStatus // nil = it has not settled
	work     *ledger.Work
	ended    []ledger.Record    // attempts since the job was last put back on purpose
	all      []ledger.JobStatus // every attempt that ended
	masked   []int              // attempts whose patch on disk is a redacted copy
}

func newPast() *past {
	return &past{jobs: map[string]*pastJob{}, lists: map[string]ledger.Expanded{}, paused: map[string]time.Time{}, failures: map[string]int{}}
}

func (p *past) job(id string) *pastJob {
	if p.jobs[id] == nil {
		p.jobs[id] = &pastJob{}
	}
	return p.jobs[id]
}

// record takes the next record of the journal.
func (p *past) record(r ledger.Record) error {
	if n := len(p.lives); n == 0 || r.Kind == ledger.KindResumed {
		p.lives = append(p.lives, life{r.At, r.At})
	} else {
		p.lives[n-1].to = r.At
	}
	p.parked = r.Kind == ledger.KindParked
	switch r.Kind {
	case ledger.KindRunEnded:
		p.lives, p.over = nil, true
	case ledger.KindResumed:
		p.run.Internal = p.run.Internal || r.Internal
		p.run.AgentsDigest = cmp.Or(r.AgentsDigest, p.run.AgentsDigest)
		if p.over {
			p.payments, p.over = append(p.payments, payment{}), false
		}
	case ledger.KindRunStarted:
		p.run = *r.Run
	case ledger.KindNote:
		p.note(r)
	case ledger.KindArbitrating:
		p.drawn = len(p.told)
	case ledger.KindApproved:
		p.given = append(p.given, *r.Approval)
	case ledger.KindExpanded:
		p.lists[r.Expanded.Of] = *r.Expanded
	case ledger.KindIntent:
		j := p.job(r.Job)
		j.routes = append(j.routes, *r.Route)
		j.open, j.begun, j.events, j.injected = true, r.At, 0, nil
		if r.Job == ledger.ArbiterJob {
			p.shown = append([]string{}, p.told[:p.drawn]...)
		}
		p.open++
		p.last = ""
		if p.open == 1 {
			p.last = r.Job
		}
	case ledger.KindEvent:
		p.job(r.Job).events = r.Event.Seq
	case ledger.KindAttemptEnded, ledger.KindSettled:
		p.end(r)
	case ledger.KindRequeued:
		j := p.job(r.Job)
		j.ended, j.status = nil, nil
	}
	return nil
}

func (p *past) note(r ledger.Record) {
	switch r.About {
	case "":
		if r.Job == "" {
			p.noted = append(p.noted, r.Text.Unshown())
		}
	case ledger.AboutRun:
		p.told = append(p.told, r.Text.Unshown())
	case ledger.AboutSecret:
		if j := p.job(r.Job); j.open && r.Attempt == len(j.routes) {
			j.injected = append(j.injected, r.Text.Unshown())
		}
	case ledger.AboutCheckout:
		p.told, p.checkout = append(p.told, r.Text.Unshown()), append(p.checkout, r.Text.Unshown())
	}
}

func (p *past) end(r ledger.Record) {
	j := p.job(r.Job)
	if j.open {
		p.open--
		j.ended, j.all = append(j.ended, r), append(j.all, *r.Settled)
		if r.Work != nil && r.Work.Masked {
			j.masked = append(j.masked, r.Settled.Attempts)
		}
		if n := len(j.routes); n > 0 && r.Settled.Route != nil {
			j.routes[n-1].Family = r.Settled.Route.Family // by the model that answered
		}
		p.payments = append(p.payments, payment{r.Job, sourceThen(*r.Settled), r.Settled.Usage})
		p.limits(r)
	}
	j.open, j.status, j.work = false, nil, r.Work
	if r.Kind == ledger.KindSettled {
		j.status = r.Settled
	}
}

// limits takes in what an attempt that ended said of its runtime.
func (p *past) limits(r ledger.Record) {
	if r.Status == ledger.Failed {
		p.failures[r.Settled.Runtime]++
	}
	if n := r.Next; n != nil && n.Pause != "" && n.Until != nil && n.Until.After(p.paused[n.Pause]) {
		p.paused[n.Pause] = *n.Until
	}
}

// families are those of the runtimes that its attempts ran on.
func (j *pastJob) families(exec bool) (all []string) {
	if exec {
		return nil
	}
	for _, r := range j.routes {
		all = append(all, r.Family)
	}
	return all
}

// failures are the attempts that count against the job's retries and fallbacks: not
// those that a death or a person cut off.
func (j *pastJob) failures() []ledger.Record {
	return slices.DeleteFunc(slices.Clone(j.ended), func(r ledger.Record) bool {
		return r.Status == ledger.Interrupted
	})
}

// unanswered counts the failures of the arbiter that are not about the form of an
// answer: such a one was asked again for another cause.
func (j *pastJob) unanswered() (n int) {
	for _, r := range j.failures() {
		if r.Reason != runtime.BlockedNoAnswer {
			n++
		}
	}
	return n
}

// awaits reports whether a settled job is taken up again: it was cut off or blocked,
// or its runtime was out of quota; a failed one only when that is asked for.
func (j *pastJob) awaits(retryFailed bool) bool {
	switch s := j.status; {
	case s == nil:
		return false
	case s.Status == ledger.Failed:
		return retryFailed || s.Reason == runtime.ReasonQuota
	default:
		return s.Status == ledger.Blocked || s.Status == ledger.Interrupted
	}
}
