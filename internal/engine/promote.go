package engine

import (
	"context"
	"fmt"
	"slices"

	"orchestrate/internal/inventory"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
)

// What follows a failed attempt: its runtime asked again, the next fallback chosen.

// follow carries out a decision: it probes again, promotes the next fallback, or lets
// the job be tried once more. moved is the route of a promoted successor.
func (r *run) follow(ctx context.Context, j *jobRun, a *attempt, d policy.Decision, status ledger.JobStatus) (again bool, moved *ledger.Route) {
	if d.Reprobe && ctx.Err() == nil {
		r.mu.Lock()
		j.reprobed[a.route.Runtime] = true
		r.mu.Unlock()
		r.reprobe(ctx, map[string]bool{a.route.Runtime: true})
	}
	if declared := len(a.job.Fallbacks) > 0 || a.job.Retry.MaxAttempts > 1; declared && !d.Retry && !d.Fallback {
		r.note(ledger.Noted(a.job.ID, d.Why))
	}
	if !d.Fallback || ctx.Err() != nil {
		return d.Retry, nil
	}
	j.tried = append(j.tried, route.TriedOn(a.route, status.Reason))
	next, block := r.promote(ctx, j, d.Reprobe)
	if block != nil {
		r.note(ledger.Noted(a.job.ID, r.redact.String("no fallback qualifies: "+block.Detail)))
		return d.OrRetry, nil
	}
	r.note(ledger.Noted(a.job.ID, fmt.Sprintf("goes on with %s: %s ended with %s", next.Runtime, a.route.Runtime, status.Reason)))
	return true, &next
}

// promote probes the declared fallbacks again and routes the job to the next. fresh says
// that the runtime that failed has been asked again already.
func (r *run) promote(ctx context.Context, j *jobRun, fresh bool) (ledger.Route, *route.Block) {
	ask := map[string]bool{}
	for _, f := range j.planned.Job.Fallbacks {
		if f.Runtime != "" {
			ask[f.Runtime] = true
			continue
		}
		for _, p := range r.plan.Inventory.Profiles { // the next best by policy may be any agent
			if named := ask[p.Runtime]; p.Kind == runtime.KindCLI && r.eng.Operator.Allows(p.Runtime) {
				ask[p.Runtime] = named
			}
		}
	}
	if fresh {
		delete(ask, j.route.Runtime)
	}
	r.reprobe(ctx, ask)
	return r.successor(j)
}

// successor chooses among what is declared after the routes that failed. It has a tree
// of its own wherever one before had, or the job writes.
func (r *run) successor(j *jobRun) (ledger.Route, *route.Block) {
	job := j.planned.Job
	in := r.plan.input(r.eng, j.planned)
	if policy.Judges(job.Task) {
		in.Producers = r.producers(job.DependsOn)
	}
	treed := slices.ContainsFunc(j.tried, func(t route.Tried) bool { return slices.Contains(t.Controls, controlWorktree) })
	if in.Isolate == "" && in.NoWorktree == "" && (treed || job.Writes()) {
		in.Isolate = "a later attempt has a tree of its own"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	in.Profiles, in.Tried, in.Failures = r.usable(), j.tried, r.failures
	return r.plan.choose(in)
}

// reprobe asks runtimes again, all at once. What was found is said of those that are
// meant (true), and of the others where it is not what was known.
func (r *run) reprobe(ctx context.Context, names map[string]bool) {
	var ask []runtime.Adapter
	for _, a := range r.eng.Adapters {
		if _, ok := names[a.Name()]; ok {
			ask = append(ask, a)
		}
	}
	if len(ask) == 0 {
		return
	}
	found := inventory.Prober{Begun: r.probing}.Probe(ctx, r.eng.Host, ask)
	for _, fresh := range found.Profiles {
		fresh = policy.Judged(fresh, r.eng.Operator)
		r.mu.Lock()
		before := r.profiles[fresh.Runtime]
		r.profiles[fresh.Runtime] = fresh
		r.mu.Unlock()
		if names[fresh.Runtime] || fresh.State != before.State {
			r.note(ledger.Noted("", r.redact.String(fmt.Sprintf("probed again: %s is %s %s", fresh.Runtime, fresh.State, fresh.Reason))))
		}
	}
	r.fail(r.writeRuntimes())
}
