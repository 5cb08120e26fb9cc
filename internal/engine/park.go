package engine

import (
	"context"
	"errors"
	"fmt"

	"orchestrate/internal/failpoint"
	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
	"orchestrate/internal/runtime"
	"orchestrate/internal/shellword"
)

// park leaves a run in which nothing can go on before the hosting session acts: this
// process ends, and whoever takes or hands in a job starts another when there is
// something to do. told says that nothing is recorded by itself any more.
func (r *run) park(ctx context.Context, told func()) (Result, error) {
	if err := r.slots.close(); err != nil {
		r.note(ledger.Noted("", r.redact.String(err.Error()))) // none had a job any more
	}
	told()
	failpoint.Hit(failpoint.ParkBefore)
	status := parkedStatus(r.led.State())
	r.fail(r.led.Append(ledger.Parked(status)))
	if r.broken != nil {
		return Result{}, r.broken
	}
	failpoint.Hit(failpoint.ParkAfter)
	res := Result{Dir: r.led.Dir, Exit: status, NextSteps: r.sessionSteps()}
	rep, err := r.soFar(context.WithoutCancel(ctx))
	if err == nil {
		res.Completion = r.redact.String(rep.Completion())
	}
	return res, err
}

// soFar is the report of the run as it is recorded by now.
func (r *run) soFar(ctx context.Context) (report.Report, error) {
	var all []ledger.Record
	led, err := ledger.Look(r.led.Dir, func(rec ledger.Record) error {
		all = append(all, rec)
		return nil
	})
	if err != nil {
		return report.Report{}, err
	}
	rep, err := Interim(ctx, led, all, report.Awaiting, r.eng.Now())
	return rep, errors.Join(err, led.Close())
}

// parkedStatus is the exit status of a run that is parked: what a person must decide comes
// before what the session can do.
func parkedStatus(st ledger.State) int {
	for _, j := range st.Jobs {
		if j.Status == ledger.Blocked && j.Reason != runtime.BlockedDependency {
			return ExitBlocked
		}
	}
	return ExitAwaiting
}

// sessionSteps say for each job that is with the session what can be done about it.
func (r *run) sessionSteps() (all []string) {
	run := shellword.Quote(r.led.ID)
	all = append(all, "take a job: "+handoff.NextCommand(run))
	for i := range r.plan.Jobs {
		id := r.plan.Jobs[i].Job.ID
		if a := r.away[id]; a != nil {
			all = append(all, fmt.Sprintf("job %s awaits the hosting session; hand its result in: %s", id, handoff.SubmitCommand(run, shellword.Quote(id), shellword.Quote(a.request.Attempt))))
		}
	}
	return cleaned(r, all)
}
