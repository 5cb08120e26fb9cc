package engine

import (
	"context"
	"fmt"
	"strings"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/workspace"
)

// A change of the shared checkout is held against a job only if it alone could
// have made it: it ran while nothing else did. An agent that runs alone is
// therefore compared before and after; plain programs, which may be thousands,
// only as a whole.

// alone says whether an attempt runs by itself, and what the checkout was before.
type alone struct {
	so     bool
	number int // of the attempt among those begun
	before workspace.Fingerprint
}

// enter counts the attempt in and, if nothing else runs, records the checkout.
func (r *run) enter(ctx context.Context, a *attempt) alone {
	r.mu.Lock()
	r.begun++
	r.active++
	mine := alone{so: r.active == 1 && a.compared(), number: r.begun}
	r.mu.Unlock()
	if !mine.so {
		return mine
	}
	var err error
	if mine.before, err = r.fingerprint(ctx); err != nil {
		mine.so = false
	}
	return mine
}

// leave counts the attempt out and lists what changed in the shared checkout
// while it alone was running.
func (r *run) leave(ctx context.Context, a *attempt, mine alone) []string {
	r.mu.Lock()
	r.active--
	still := mine.so && r.begun == mine.number
	r.mu.Unlock()
	if !still {
		return nil
	}
	after, err := r.fingerprint(context.WithoutCancel(ctx))
	if err != nil {
		r.note(ledger.Noted(a.job.ID, r.redact.String("the checkout could not be compared after the job: "+err.Error())))
		return nil
	}
	changed := mine.before.Diff(after)
	if len(changed) > 0 {
		r.mu.Lock()
		r.before = after // told already; the end of the run need not say it again
		r.mu.Unlock()
	}
	return changed
}

// compared reports whether the attempt is worth a comparison of its own: an agent
// that has no business in the shared checkout.
func (a *attempt) compared() bool {
	return a.route.Runtime != runtimeExec && (a.at.isolated || !a.job.Writes())
}

// outsideChanges looks once more when all have ended. What changed is held
// against the only job that can have made it, else it is told in the report.
func (r *run) outsideChanges(ctx context.Context) {
	after, err := r.fingerprint(ctx)
	if err != nil {
		r.note(ledger.Noted("", r.redact.String("the checkout could not be compared after the run: "+err.Error())))
		return
	}
	changed := r.before.Diff(after)
	if len(changed) == 0 {
		return
	}
	suspects := r.suspects()
	if len(suspects) == 0 {
		return // a writer in the shared checkout did its work
	}
	text := fmt.Sprintf("changed in the shared checkout during the run: %s", strings.Join(first(changed, 20), ", "))
	if len(suspects) == 1 && r.begun == 1 {
		j := r.jobs[suspects[0]]
		j.facts.Observed = append(j.facts.Observed, changed...)
		text += "; only job " + suspects[0] + " ran"
	}
	r.tell(text)
}

// tell notes what happened to the run, for journal, arbiter and report.
func (r *run) tell(text string) {
	text = r.redact.String(text)
	r.mu.Lock()
	r.outside = append(r.outside, text)
	r.mu.Unlock()
	r.note(ledger.Noted("", text))
}

// suspects are the jobs that ran without leave to write in the shared checkout;
// none when a job had that leave.
func (r *run) suspects() (ids []string) {
	for i := range r.plan.Jobs {
		j := r.jobs[r.plan.Jobs[i].Job.ID]
		if j.status == nil || j.status.Attempts == 0 {
			continue
		}
		if j.planned.Job.Writes() && j.status.Worktree == nil {
			return nil
		}
		ids = append(ids, j.planned.Job.ID)
	}
	return ids
}

func first(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	return append(list[:n:n], fmt.Sprintf("and %d more", len(list)-n))
}

// probedHere reports whether a runtime's profile is from this run.
func (r *run) probedHere(name string) bool {
	p, ok := r.profiles[name]
	return ok && p.State != "" && !p.ProbedAt.IsZero()
}

// findings are layer 1's.
func (r *run) findings() []ledger.Finding {
	var facts []arbiter.JobFacts
	for i := range r.plan.Jobs {
		j := r.jobs[r.plan.Jobs[i].Job.ID]
		if j.status == nil { // it never began and is not blocked: queued
			j.facts = arbiter.JobFacts{Job: j.planned.Job, ID: j.planned.Job.ID, Status: ledger.JobStatus{ID: j.planned.Job.ID, Status: ledger.Queued}}
		}
		facts = append(facts, j.facts)
	}
	return arbiter.Layer1(facts)
}
