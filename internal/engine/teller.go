package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// teller puts a story together.
type teller struct {
	run      *ledger.Run
	job      *spec.Job
	story    Story
	ended    bool // the run
	draft    bool // that only made a spec from a request
	profiles ledger.Runtimes
	next     *ledger.Next                // what followed from the job's newest attempt
	at       map[string]ledger.JobStatus // where each job stands; a queued one may not be in it
}

// read takes the job and the runtimes from the run's files.
func (t *teller) read(id string) error {
	if err := t.readJob(id); err != nil {
		return err
	}
	t.draft = NoFurther(t.run) != nil
	return t.readRuntimes()
}

// readJob takes the job from jobs.yaml, since the spec may name files that have gone
// since. The arbiter is in neither.
func (t *teller) readJob(id string) error {
	var err error
	if t.job = route.ArbiterJob(spec.Arbiter{}, ""); id != ledger.ArbiterJob {
		t.job, err = t.written(id)
	}
	if err == nil {
		t.story.Task = t.job.Task
	}
	return err
}

func (t *teller) written(id string) (*spec.Job, error) {
	all, err := writtenJobs(t.run)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(j writtenJob) bool { return j.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("%s has no job %s", t.run.Path(ledger.JobsFile), id)
	}
	return all[i].job(), nil
}

// writtenJob is the part of a job in jobs.yaml that its story needs.
type writtenJob struct {
	ID         string   `yaml:"id"`
	Task       string   `yaml:"task"`
	Effect     string   `yaml:"effect"`
	Runtime    string   `yaml:"runtime"`
	Agent      string   `yaml:"agent"`
	Command    []string `yaml:"command"`
	OwnedPaths []string `yaml:"owned_paths"`
	EnvAllow   []string `yaml:"env_allow"`
	DependsOn  []string `yaml:"depends_on"`
	Fallbacks  []struct {
		Runtime string `yaml:"runtime"`
	} `yaml:"fallback_runtime"`
	Retry struct {
		MaxAttempts int      `yaml:"max_attempts"`
		On          []string `yaml:"on"`
	} `yaml:"retry"`
	Timeout            time.Duration `yaml:"timeout"`
	FirstOutputTimeout time.Duration `yaml:"first_output_timeout"`

	Continue string `yaml:"continue"`
	Pattern  struct {
		Part *struct {
			Kind   string `yaml:"kind"`
			Of     string `yaml:"of"`
			Number int    `yaml:"number"`
		} `yaml:"part"`
		Item *struct {
			Of string `yaml:"of"`
		} `yaml:"item"`
		Gather *struct {
			Kind string `yaml:"kind"`
		} `yaml:"gather"`
		AfterAll bool `yaml:"after_all"`
	} `yaml:"pattern"`

	Checks   []any  `yaml:"checks"`
	Preview  string `yaml:"preview"`
	Rollback string `yaml:"rollback"`
}

func (w writtenJob) job() *spec.Job {
	job := &spec.Job{
		ID: w.ID, Task: w.Task, Effect: w.Effect, Runtime: named(w.Runtime), Command: w.Command, OwnedPaths: w.OwnedPaths, EnvAllow: w.EnvAllow,
		DependsOn: w.DependsOn, Checks: make([]spec.Check, len(w.Checks)),
		Timeout: w.Timeout, FirstOutputTimeout: w.FirstOutputTimeout,
		Retry:   spec.Retry{MaxAttempts: w.Retry.MaxAttempts, On: w.Retry.On},
		Preview: w.Preview, Rollback: w.Rollback, Continue: w.Continue, AfterAll: w.Pattern.AfterAll,
	}
	if p := w.Pattern.Part; p != nil {
		job.Part = &spec.Part{Kind: p.Kind, Of: p.Of, Number: p.Number}
	}
	if i := w.Pattern.Item; i != nil {
		job.Item = &spec.Item{Of: i.Of}
	}
	if g := w.Pattern.Gather; g != nil {
		job.Gather = &spec.Gather{Kind: g.Kind}
	}
	for _, f := range w.Fallbacks {
		job.Fallbacks = append(job.Fallbacks, spec.Fallback{Runtime: named(f.Runtime)})
	}
	return job
}

// named is a runtime that jobs.yaml names, "" for a placeholder.
func named(written string) string {
	if strings.HasPrefix(written, "<") {
		return ""
	}
	return written
}

// record takes the next record of the run.
func (t *teller) record(r ledger.Record) {
	t.move(r)
	switch {
	case r.Kind == ledger.KindResumed:
		t.happened(r, "another engine carried the run on")
	case r.Job != t.story.Job:
	case r.Kind == ledger.KindIntent:
		t.story.Attempts = append(t.story.Attempts, Attempt{Attempt: r.Attempt, Status: ledger.Running, StartedAt: r.At, Route: *r.Route, Denied: []untrusted.Text{}})
	case r.Kind == ledger.KindAwaiting:
		if n := len(t.story.Attempts); n > 0 {
			t.story.Attempts[n-1].Status = ledger.Awaiting
		}
	case r.Kind == ledger.KindEvent:
		if n := len(t.story.Attempts); n > 0 && r.Event.Kind == runtime.EventBoundary {
			t.story.Attempts[n-1].Denied = append(t.story.Attempts[n-1].Denied, r.Event.Text)
		}
	case r.Kind == ledger.KindAttemptEnded, r.Kind == ledger.KindSettled:
		t.end(r)
	case r.Kind == ledger.KindRequeued:
		t.happened(r, "queued again: "+r.Text.Line(0))
	case r.Kind == ledger.KindApproved:
		t.happened(r, "approved (by "+r.Approval.By+")")
	case r.Kind == ledger.KindNote:
		t.happened(r, r.Text.Line(0))
	}
}

// move keeps where each job stands.
func (t *teller) move(r ledger.Record) {
	switch r.Kind {
	case ledger.KindIntent:
		t.at[r.Job] = ledger.JobStatus{Status: ledger.Running}
	case ledger.KindAwaiting:
		t.at[r.Job] = ledger.JobStatus{Status: ledger.Awaiting}
	case ledger.KindSettled:
		t.at[r.Job] = *r.Settled
	case ledger.KindAttemptEnded, ledger.KindRequeued:
		delete(t.at, r.Job)
	case ledger.KindRunEnded, ledger.KindResumed:
		t.ended = r.Kind == ledger.KindRunEnded
	}
}

// standing is where a job stands.
func (t *teller) standing(job string) ledger.JobStatus {
	s := t.at[job]
	s.Status = cmp.Or(s.Status, ledger.Queued)
	return s
}

func (t *teller) happened(r ledger.Record, text string) {
	t.story.Happenings = append(t.story.Happenings, Happening{At: r.At, Text: text})
}

// end takes the end of an attempt, or of a job that was not dispatched.
func (t *teller) end(r ledger.Record) {
	s := r.Settled
	n := len(t.story.Attempts)
	if n == 0 || t.story.Attempts[n-1].EndedAt != nil {
		t.story.Route = s.Route
		t.happened(r, fmt.Sprintf("%s: %s: %s", s.Status, s.Reason, s.ReasonEvidence))
		return
	}
	a := &t.story.Attempts[n-1]
	a.Status, a.Reason, a.Evidence = s.Status, s.Reason, s.ReasonEvidence
	a.EndedAt, a.ExitCode, a.Signal, a.ObservedModel = cmp.Or(s.EndedAt, &r.At), s.ExitCode, s.Signal, s.ObservedModel
	if s.Route != nil {
		a.Route = *s.Route // with what its command brought along
	}
	a.Then, t.next = pausing(r.Next), r.Next
	if r.Kind == ledger.KindAttemptEnded {
		a.Then = decided(r.Next)
	}
}

// decided says what followed an attempt.
func decided(n *ledger.Next) string {
	if n == nil {
		return "another attempt follows"
	}
	text := "the same route is tried again"
	if n.Moved {
		text = "the next declared fallback that qualifies takes over"
	}
	if n.NotBefore != nil {
		text += ", not before " + pointInTime(*n.NotBefore)
	}
	if pause := pausing(n); pause != "" {
		text += "; " + pause
	}
	return text
}

// pausing says which runtime gets no starts since an attempt, "" = none.
func pausing(n *ledger.Next) string {
	switch {
	case n == nil || n.Pause == "":
		return ""
	case n.Until != nil:
		return fmt.Sprintf("%s gets no starts until %s", n.Pause, pointInTime(*n.Until))
	case n.Resets != nil:
		return fmt.Sprintf("%s gets no more starts in this run; its quota is back at %s", n.Pause, pointInTime(*n.Resets))
	}
	return n.Pause + " gets no more starts in this run"
}

// conclude says where the job stands and what a person can do.
func (t *teller) conclude() {
	s, now := &t.story, t.standing(t.story.Job)
	s.SideEffects = t.effects()
	for _, d := range t.job.DependsOn {
		s.DependsOn = append(s.DependsOn, Waited{Job: d, Status: t.standing(d).Status})
	}
	s.Status, s.Reason, s.Evidence = now.Status, now.Reason, now.ReasonEvidence
	if len(s.Attempts) == 0 {
		s.NotStarted = t.notStarted()
	}
	s.Pattern, s.Continues, s.Item, s.Decided = report.PatternOf(t.job), goesOnWith(t.job), report.Item(now), now.Decided
	if s.Status.Well() || !s.Status.Settled() {
		return
	}
	var denied []untrusted.Text
	if n := len(s.Attempts); n > 0 {
		denied = s.Attempts[n-1].Denied
	}
	s.NextStep = trouble{job: t.job, status: now, run: s.RunID, draft: t.draft, files: t.run, signIn: t.ask(now.Runtime), until: t.backAt(), denied: denied}.nextStep()
	if r := now.Route; r != nil && len(s.Attempts) == 0 && len(r.Candidates) == 1 {
		s.NextStep = cmp.Or(t.ask(r.Candidates[0].Runtime), s.NextStep) // nothing else would do
	}
}

// effects are those on the newest route that is on record.
func (t *teller) effects() string {
	if r := t.story.Newest(); r != nil {
		return sideEffects(t.job, *r)
	}
	return sideEffects(t.job, ledger.Route{})
}

// backAt is when the runtime of the newest attempt takes jobs again, as was recorded;
// zero = that is not known.
func (t *teller) backAt() time.Time {
	if n := t.next; n != nil {
		if at := cmp.Or(n.Until, n.Resets); at != nil {
			return *at
		}
	}
	return time.Time{}
}

// ask is what the runtime's newest profile says to do, "" = nothing.
func (t *teller) ask(name string) string { return signInOf(t.profiles, name) }

// notStarted says why a job was never dispatched.
func (t *teller) notStarted() string {
	if t.story.Status == ledger.Success { // the engine made its result itself
		return ""
	}
	if t.story.Status.Settled() {
		return fmt.Sprintf("%s: %s", t.story.Reason, t.story.Evidence)
	}
	why := t.waitsFor()
	if t.ended {
		why += "; the run has ended, and `orchestrate resume " + t.story.RunID + "` goes on with it"
	}
	return why
}

func (t *teller) waitsFor() string {
	var open []string
	endIsEnough := t.job != nil && t.job.AfterAll
	for _, d := range t.story.DependsOn {
		if !d.Status.Well() && (!endIsEnough || !d.Status.Settled()) {
			open = append(open, d.Job+" ("+string(d.Status)+")")
		}
	}
	paused := slices.DeleteFunc(t.run.State().Paused, func(p ledger.Paused) bool { return !t.mayUse(p.Runtime) })
	switch {
	case len(open) > 0:
		return "it waits for " + strings.Join(open, ", ")
	case t.story.Job == ledger.ArbiterJob:
		return "it is asked when all jobs have settled"
	case len(paused) > 0:
		return "it waits for its runtime; held back of those that it may use: " + held(paused)
	}
	return "it waits for a slot, for its runtime or for a job that it must not run beside"
}

// mayUse reports whether the spec lets the job onto a runtime: the one that it names, a
// fallback, or any where the choice is left to policy.
func (t *teller) mayUse(name string) bool {
	if t.job.Exec() {
		return name == runtimeExec
	}
	return t.job.Runtime == "" || t.job.Runtime == name ||
		slices.ContainsFunc(t.job.Fallbacks, func(f spec.Fallback) bool { return f.Runtime == "" || f.Runtime == name })
}

// held says which runtimes get no starts, and until when.
func held(paused []ledger.Paused) string {
	var all []string
	for _, p := range paused {
		until := "for the rest of the run"
		switch {
		case p.Until != nil:
			until = "until " + pointInTime(*p.Until)
		case p.Resets != nil:
			until += ", its quota is back at " + pointInTime(*p.Resets)
		}
		all = append(all, fmt.Sprintf("%s %s (%s)", p.Runtime, until, p.Reason))
	}
	return strings.Join(all, ", ")
}
