package ledger

import (
	"errors"
	"fmt"
	"slices"

	"orchestrate/internal/untrusted"
)

// folder turns records into a State, one at a time and at a cost that does not
// grow with the number of jobs. It refuses a record that could not have happened
// and then leaves the state as it was. It knows no disk and no clock.
type folder struct {
	state State
	index map[string]int      // job id -> place in state.Jobs
	open  map[string]bool     // jobs with an attempt that was intended and has not ended
	lists map[string]onRecord // what lists were found to be, by the job as the spec has it
}

// onRecord is what was recorded of a list.
type onRecord struct {
	sources []string
	resumes int // of the run by then
}

// apply takes the next record.
func (f *folder) apply(r Record) error {
	if err := f.expect(r); err != nil {
		return err
	}
	if err := f.move(r); err != nil {
		return err
	}
	f.state.Seq = r.Seq
	return nil
}

// expect checks what holds for every kind: version, number, order, known job.
func (f *folder) expect(r Record) error {
	switch {
	case r.SchemaVersion != SchemaVersion:
		return fmt.Errorf("schemaVersion %d, this program knows %d", r.SchemaVersion, SchemaVersion)
	case r.Seq != f.state.Seq+1:
		return fmt.Errorf("seq %d where %d was expected", r.Seq, f.state.Seq+1)
	case (f.state.Seq == 0) != (r.Kind == KindRunStarted):
		return fmt.Errorf("%s as record %d: run_started comes first, and once", r.Kind, r.Seq)
	case f.state.Phase == PhaseEnded && r.Kind != KindResumed:
		return fmt.Errorf("%s after run_ended", r.Kind)
	case f.state.Phase == PhaseAwaiting && r.Kind != KindResumed:
		return fmt.Errorf("%s after parked", r.Kind)
	}
	return nil
}

func (f *folder) move(r Record) error {
	switch r.Kind {
	case KindRunStarted:
		return f.runStarted(r)
	case KindIntent, KindStarted, KindAwaiting, KindEvent, KindAttemptEnded, KindSettled, KindRequeued:
		return f.moveJob(r)
	case KindNote:
		return f.note(r)
	case KindProgress:
		return nil
	case KindApproved:
		return f.approved(r)
	case KindExpanded:
		return f.expanded(r)
	case KindArbitrating:
		if f.state.Phase != PhaseRunning {
			return fmt.Errorf("%s in phase %s", r.Kind, f.state.Phase)
		}
		f.state.Phase = PhaseArbitrating
		return nil
	case KindRunEnded:
		return f.runEnded(r)
	case KindParked:
		return f.parked(r)
	case KindResumed:
		f.state.Phase, f.state.EndedAt = PhaseRunning, nil
		f.state.Verdict, f.state.ExitStatus = "", nil
		f.state.Resumes++
		f.state.Budget, f.state.Stopping = untrusted.Text{}, untrusted.Text{}
		f.unpause(func(p Paused) bool { return p.Until == nil }) // whether a quota is back is to be found out
		return nil
	}
	return fmt.Errorf("unknown kind %q", r.Kind)
}

func (f *folder) moveJob(r Record) error {
	j, err := f.job(r)
	if err != nil {
		return err
	}
	if r.Kind == KindRequeued && f.state.Resumes == 0 {
		err = errors.New("the run was never resumed")
	} else {
		err = j.move(r, f.open[r.Job])
	}
	if err != nil {
		return fmt.Errorf("%s of job %q, which is %s at attempt %d: %w", r.Kind, r.Job, j.Status, j.Attempt, err)
	}
	switch r.Kind {
	case KindIntent:
		f.open[r.Job] = true
		f.state.Budget = untrusted.Text{} // something starts
		f.unpause(func(p Paused) bool { return p.Runtime == r.Route.Runtime && p.Until != nil && !r.At.Before(*p.Until) })
	case KindAttemptEnded, KindSettled:
		delete(f.open, r.Job)
		f.pause(r)
	}
	if r.Job == ArbiterJob {
		f.state.Arbiter = j
	}
	return nil
}

// pause takes in that a runtime is held back; the longer of two pauses holds.
func (f *folder) pause(r Record) {
	if r.Next == nil || r.Next.Pause == "" {
		return
	}
	p := Paused{Runtime: r.Next.Pause, Reason: r.Reason, Until: r.Next.Until, Resets: r.Next.Resets}
	i := slices.IndexFunc(f.state.Paused, func(have Paused) bool { return have.Runtime == p.Runtime })
	switch {
	case i < 0:
		f.state.Paused = append(f.state.Paused, p)
	case f.state.Paused[i].Until != nil && (p.Until == nil || p.Until.After(*f.state.Paused[i].Until)):
		f.state.Paused[i] = p
	}
}

func (f *folder) unpause(over func(Paused) bool) {
	f.state.Paused = slices.DeleteFunc(f.state.Paused, over)
}

func (f *folder) runStarted(r Record) error {
	if r.Run == nil || r.Run.RunID == "" {
		return errors.New("run_started without its run")
	}
	index := make(map[string]int, len(r.Run.Jobs))
	jobs := make([]JobState, len(r.Run.Jobs))
	for i, id := range r.Run.Jobs {
		if _, twice := index[id]; twice || id == "" || id == ArbiterJob {
			return fmt.Errorf("run_started with job id %q, which is empty, reserved or there twice", id)
		}
		index[id] = i
		jobs[i] = JobState{ID: id, Status: Queued, Earlier: []Earlier{}}
	}
	f.index, f.open, f.lists = index, map[string]bool{}, map[string]onRecord{}
	f.state = State{
		SchemaVersion: SchemaVersion, RunID: r.Run.RunID,
		SpecPath: r.Run.SpecPath, SpecDigest: r.Run.SpecDigest, Base: r.Run.Base,
		Phase: PhaseRunning, StartedAt: r.At, Approvals: []Approval{}, Paused: []Paused{}, Jobs: jobs,
	}
	return nil
}

func (f *folder) note(r Record) error {
	if r.Text.Empty() {
		return errors.New("note without a text")
	}
	switch r.About {
	case "":
	case AboutRun, AboutCheckout, AboutBudget, AboutStop:
		if r.Job != "" {
			return fmt.Errorf("note about the %s of job %q: only one of the run is", r.About, r.Job)
		}
	case AboutSecret:
		if r.Job == "" || r.Attempt < 1 {
			return errors.New("note about a secret of no attempt")
		}
	default:
		return fmt.Errorf("note about %q", r.About)
	}
	switch r.About {
	case AboutBudget:
		f.state.Budget = r.Text
	case AboutStop:
		f.state.Stopping = r.Text
	}
	if r.Job == "" {
		return nil
	}
	_, err := f.job(r)
	return err
}

func (f *folder) approved(r Record) error {
	if r.Approval == nil || r.Approval.Job != r.Job || r.Approval.Digest == "" || r.Approval.By == "" {
		return errors.New("an approval that does not say of what, or by whom")
	}
	if _, err := f.job(r); err != nil {
		return err
	}
	f.state.Approvals = append(f.state.Approvals, r.Approval.Approval)
	return nil
}

// expanded takes in what a list is. It is said once, and anew only when a resumed run found
// other answers to take it from.
func (f *folder) expanded(r Record) error {
	x := r.Expanded
	if x == nil || x.Of == "" || len(x.Sources) == 0 {
		return errors.New("a list that does not say whose it is, or where it was found")
	}
	if _, err := f.job(r); err != nil {
		return err
	}
	was, twice := f.lists[x.Of]
	if twice && (was.resumes == f.state.Resumes || slices.Equal(was.sources, x.Sources)) {
		return fmt.Errorf("the list of %q is on record already, from the same answers or in the same life of the run", x.Of)
	}
	f.lists[x.Of] = onRecord{x.Sources, f.state.Resumes}
	return nil
}

func (f *folder) runEnded(r Record) error {
	if r.ExitStatus == nil || r.Verdict == "" {
		return errors.New("run_ended without a verdict or an exit status")
	}
	at := r.At
	f.state.Phase, f.state.EndedAt = PhaseEnded, &at
	f.state.Verdict, f.state.ExitStatus, f.state.Stopping = r.Verdict, r.ExitStatus, untrusted.Text{}
	return nil
}

// parked holds only where the hosting session has something to do.
func (f *folder) parked(r Record) error {
	awaits := func(j JobState) bool { return j.Status == Awaiting }
	switch {
	case r.ExitStatus == nil:
		return errors.New("parked without an exit status")
	case f.state.Phase != PhaseRunning || !slices.ContainsFunc(f.state.Jobs, awaits):
		return fmt.Errorf("%s in phase %s, where no job awaits the session", r.Kind, f.state.Phase)
	}
	f.state.Phase, f.state.ExitStatus = PhaseAwaiting, r.ExitStatus
	return nil
}

// job finds the job that r is about. The arbiter is one too, from its first
// record on.
func (f *folder) job(r Record) (*JobState, error) {
	if r.Job == ArbiterJob {
		if f.state.Arbiter != nil {
			return f.state.Arbiter, nil
		}
		return &JobState{ID: ArbiterJob, Status: Queued, Earlier: []Earlier{}}, nil
	}
	if i, ok := f.index[r.Job]; ok {
		return &f.state.Jobs[i], nil
	}
	return nil, fmt.Errorf("%s names job %q, which is not in this run", r.Kind, r.Job)
}

// move is one job's transition; open says that its newest attempt has not ended.
func (j *JobState) move(r Record, open bool) error {
	if r.Kind == KindRequeued {
		return j.requeue(r, open)
	}
	if j.Status.Settled() {
		return errors.New("it has settled")
	}
	if r.Kind == KindIntent {
		return j.intend(r, open)
	}
	if r.Attempt != j.Attempt {
		return fmt.Errorf("attempt %d is not its newest", r.Attempt)
	}
	switch r.Kind {
	case KindStarted:
		return j.start(r, open)
	case KindAwaiting:
		if err := j.start(r, open); err != nil {
			return err
		}
		j.Status = Awaiting
		return nil
	case KindEvent:
		if r.Event == nil || j.Attempt == 0 {
			return errors.New("no event, or none of an attempt")
		}
		return nil
	default:
		return j.end(r, open)
	}
}

// requeue keeps what tells of the older attempts: their number, and when the first
// of them started.
func (j *JobState) requeue(r Record, open bool) error {
	switch {
	case open:
		return errors.New("its attempt is under way")
	case r.Text.Empty():
		return errors.New("it does not say why")
	case j.ID == ArbiterJob && j.Attempt == 0 && !j.Status.Settled():
		return errors.New("it was never asked")
	}
	if j.Status.Settled() {
		j.follow()
	}
	j.Status, j.Reason, j.Evidence, j.EndedAt = Queued, "", untrusted.Text{}, nil
	return nil
}

func (j *JobState) intend(r Record, open bool) error {
	if open || j.Status != Queued || r.Attempt != j.Attempt+1 || r.Route == nil {
		return fmt.Errorf("attempt %d, with a route, can start only after attempt %d has ended", r.Attempt, r.Attempt-1)
	}
	j.Attempt, j.Runtime, j.Model = r.Attempt, r.Route.Runtime, r.Route.Model
	j.Reason, j.Evidence = "", untrusted.Text{}
	return nil
}

func (j *JobState) start(r Record, open bool) error {
	if !open || j.Status != Queued {
		return errors.New("only an attempt that was intended can start")
	}
	j.Status = Running
	if j.StartedAt == nil {
		at := r.At
		j.StartedAt = &at
	}
	return nil
}

func (j *JobState) end(r Record, open bool) error {
	switch {
	case r.Settled == nil || !r.Status.Settled() || r.Status != r.Settled.Status:
		return errors.New("it carries no settled status")
	case r.Kind == KindAttemptEnded && !open:
		return errors.New("there is no attempt that could end")
	}
	j.Reason, j.Evidence = r.Reason, r.Text
	if r.Settled.Model != "" {
		j.Model = r.Settled.Model
	}
	j.Status = r.Status
	if r.Kind == KindAttemptEnded {
		j.follow()
		j.Status = Queued
		return nil
	}
	at := r.At
	j.EndedAt = &at
	return nil
}

// follow puts the newest attempt among the earlier ones, unless it is there: a job can
// settle without another attempt after it.
func (j *JobState) follow() {
	if n := len(j.Earlier); j.Attempt == 0 || n > 0 && j.Earlier[n-1].Attempt == j.Attempt {
		return
	}
	j.Earlier = append(j.Earlier, Earlier{Attempt: j.Attempt, Runtime: j.Runtime, Model: j.Model, Status: j.Status, Reason: j.Reason})
}
