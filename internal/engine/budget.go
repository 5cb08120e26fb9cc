package engine

import (
	"cmp"
	"fmt"
	"slices"

	"orchestrate/internal/dispatch"
	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/supervise"
)

// sourceOf is who is paid for attempts of a job on a route.
func sourceOf(j *spec.Job, route ledger.Route) source {
	return source{runtime: route.Runtime, model: route.Model, free: j.Exec()}
}

// sourceThen is the same of an attempt that ended. One that never had a process took
// nothing.
func sourceThen(s ledger.JobStatus) source {
	never := s.Proof != nil && s.Proof.Level == string(supervise.ProofNone)
	return source{runtime: s.Runtime, model: s.RequestedModel, free: s.Runtime == runtimeExec || never}
}

// payment is what an attempt reported when it had ended; or, without a job, that the run
// was resumed after it had ended.
type payment struct {
	job  string
	from source
	used *runtime.Usage
}

// spentBy is the spending that engines before made of their payments: each time the run
// was resumed after it had ended, a budget that was used up counted anew.
func spentBy(payments []payment, b spec.Budget) (s spending) {
	for _, p := range payments {
		switch {
		case p.job != "":
			s.settle(p.job, p.from, p.used)
		case s.usedUp(b):
			s = s.anew(b)
		}
	}
	return s
}

// refusal says why the budget allows no such attempt to start now; "" = it does. What
// runs has its say first. r.mu is held.
func (r *run) refusal(from source) string {
	b := r.plan.Spec.Budget
	if b.USD <= 0 && b.Tokens <= 0 {
		return ""
	}
	if why := r.spent.refusal(b, from); why != "" {
		return why
	}
	r.spent.look()
	return r.spent.refusal(b, from)
}

// MayStart implements dispatch.Backend: usd and tokens hold back what has not begun, and
// no more is with the hosting session at once than the run has slots.
func (b *backend) MayStart(job string) bool {
	r := (*run)(b)
	r.mu.Lock()
	if r.broken != nil || r.fullAway(job) {
		r.mu.Unlock()
		return false
	}
	j := r.jobs[job]
	why := r.refusal(sourceOf(j.planned.Job, j.route))
	first := why != "" && len(r.spent.wait) == 0
	if why != "" {
		r.spent.refuse(job)
	}
	r.mu.Unlock()
	if first {
		r.note(ledger.Told(ledger.AboutBudget, fmt.Sprintf("job %s does not start for now: %s", job, why)))
	}
	return why == ""
}

// reserve holds back what the job's attempt is expected to take.
func (r *run) reserve(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.jobs[id]
	route := j.route
	if a := r.carried[id]; a != nil {
		route = a.route
	}
	r.spent.reserve(id, sourceOf(j.planned.Job, route))
}

// free gives up what is held for an attempt that did not come about.
func (r *run) free(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.spent.held, id)
}

// reserveAgain holds back what the attempt takes on the route that was chosen for it
// meanwhile. Where the budget does not allow that one, the job goes back to the queue.
func (r *run) reserveAgain(j *jobRun) (back dispatch.Ended, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, from := j.planned.Job.ID, sourceOf(j.planned.Job, j.route)
	if h := r.spent.held[id]; h != nil && h.from == from {
		return dispatch.Ended{}, false
	}
	delete(r.spent.held, id)
	if r.refusal(from) != "" {
		return dispatch.Ended{Again: true, Unmade: true}, true
	}
	r.spent.reserve(id, from)
	return dispatch.Ended{}, false
}

// unaffordable says why the budget allows no attempt on a route of the arbiter; "" = it
// does.
func (r *run) unaffordable(route ledger.Route) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refusal(source{runtime: route.Runtime, model: route.Model})
}

// heldByBudget says why the first of the jobs that the budget kept from starting does
// not start; "" = it kept none.
func (r *run) heldByBudget() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.plan.Jobs {
		j := r.jobs[r.plan.Jobs[i].Job.ID]
		open := j.status == nil || !j.status.Status.Settled()
		if !open || !r.spent.wait[j.planned.Job.ID] {
			continue
		}
		if why := r.spent.refusal(r.plan.Spec.Budget, sourceOf(j.planned.Job, j.route)); why != "" {
			return why
		}
	}
	return ""
}

// budgetStop says why the run ended before its work was done, if a budget is why.
func (r *run) budgetStop() string {
	return cmp.Or(r.budgetThatEnded(), r.heldByBudget(), r.unasked)
}

// reportBudget is where the budget stands.
func (r *run) reportBudget() *report.Budget {
	b, stop := r.plan.Spec.Budget, r.budgetStop()
	r.mu.Lock()
	defer r.mu.Unlock()
	out := report.Budget{UnknownAttempts: r.spent.unreported(b), Stopped: stop}
	if b.USD > 0 {
		out.USD = &b.USD
	}
	if b.Tokens > 0 {
		out.Tokens = &b.Tokens
	}
	if ms := b.Wall.Milliseconds(); ms > 0 {
		out.WallMs = &ms
	}
	if r.spent.told[usd] {
		out.SpentUSD = new(float64(r.spent.spent[usd]) / dollar)
	}
	if r.spent.told[tokens] {
		out.SpentTokens = new(r.spent.spent[tokens])
	}
	return &out
}

// noteBudget says before a run what its budget cannot hold.
func (p *Plan) noteBudget(e *Engine) {
	b := p.Spec.Budget
	if b.USD <= 0 && b.Tokens <= 0 {
		return
	}
	for _, name := range p.paid() {
		a, ok := e.adapter(name)
		if !ok {
			continue
		}
		told := runtime.MeteredBy(a)
		for _, bound := range []struct {
			set         bool
			told        runtime.Told
			what, limit string
		}{{b.USD > 0, told.USD, "cost", "budget.usd"}, {b.Tokens > 0, told.Tokens, "tokens", "budget.tokens"}} {
			if text := blind(name, bound.told, bound.what, bound.limit); bound.set && text != "" {
				p.Notes = append(p.Notes, text)
			}
		}
	}
}

// blind says what a limit cannot hold of a runtime, "" = nothing.
func blind(name string, told runtime.Told, what, limit string) string {
	switch told {
	case runtime.ToldAlways:
		return ""
	case runtime.ToldSometimes:
		return fmt.Sprintf("%s does not always report its %s: %s holds only what it reports", name, what, limit)
	case runtime.ToldNever:
		return fmt.Sprintf("%s does not report its %s, so %s cannot hold it", name, what, limit)
	}
	return fmt.Sprintf("whether %s reports its %s is not known: %s holds only what it reports", name, what, limit)
}

// paid are the runtimes that may be paid in this run, sorted.
func (p *Plan) paid() (names []string) {
	for i := range p.Jobs {
		j := &p.Jobs[i]
		if j.Job.Exec() || !j.routed() {
			continue
		}
		names = append(names, j.Route.Runtime)
		for _, f := range j.Job.Fallbacks {
			if f.Runtime != "" {
				names = append(names, f.Runtime)
			}
		}
	}
	if p.Arbiter.Needed && p.Arbiter.Block == nil {
		names = append(names, p.Arbiter.Route.Runtime)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(name string) bool { return name == runtimeStandin || name == runtimeExec })
}
