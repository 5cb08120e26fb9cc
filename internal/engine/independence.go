package engine

import (
	"cmp"
	"slices"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
)

// Who judges is settled by who really did the work: a fallback may have done a
// job that the plan had given to another family.

// producers are the families of all attempts that ran for the given jobs and for
// those that they build on. Who verified a repair had no part in the work.
func (r *run) producers(ids []string) []route.Producer {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []route.Producer
	for _, id := range r.plan.producing(ids) {
		j := r.jobs[id]
		for _, family := range j.ran {
			all = append(all, route.Producer{Job: j.planned.Job.ID, Family: family, Hosted: j.hosted()})
		}
	}
	return all
}

// hosted reports whether the hosting session had a part in the job.
func (j *jobRun) hosted() bool {
	by := func(s ledger.JobStatus) bool { return s.Runtime == runtime.Internal }
	return j.route.Runtime == runtime.Internal || slices.ContainsFunc(j.ended, by)
}

// rejudge chooses the route of a job that judges the work of others once more,
// now that this work is done. Other jobs keep theirs.
func (r *run) rejudge(j *jobRun) *route.Block {
	job := j.planned.Job
	if !policy.Judges(job.Task) || j.tries+j.moves > 0 {
		return nil
	}
	done := r.producers(job.DependsOn)
	var said string
	defer func() {
		if said != "" {
			r.tell(said)
		}
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	in := r.plan.input(r.eng, j.planned)
	in.Profiles, in.Failures, in.Producers = r.usable(), r.failures, done
	next, block := r.plan.choose(in)
	if block != nil {
		return block
	}
	was := j.route
	j.route = next
	if was.Runtime != next.Runtime || was.Independence != next.Independence {
		said = job.ID + " judges on " + next.Runtime + ", " + cmp.Or(next.Independence, "independence unknown") + ", now that it is known who did the work"
	}
	return nil
}

// arbiterRoute chooses the arbiter once more, now that the work is done.
func (r *run) arbiterRoute() (ledger.Route, *route.Block) {
	var ids []string
	for i := range r.plan.Jobs {
		ids = append(ids, r.plan.Jobs[i].Job.ID)
	}
	done := r.producers(ids)
	r.mu.Lock()
	defer r.mu.Unlock()
	return route.ArbiterRoute(route.ArbiterInput{
		Arbiter: r.plan.Spec.Arbiter, Dir: r.plan.Root, Profiles: r.usable(), Known: r.eng.names(), Operator: r.eng.Operator, Failures: r.failures,
		Producers: done, Builds: r.plan.builds(r.eng), Rehearse: r.plan.Request.Rehearse,
		Sandbox: r.plan.Sandbox, Own: r.eng.own(),
	})
}
