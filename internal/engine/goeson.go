package engine

import (
	"cmp"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// How jobs that go on with a session are planned: on the route of the one before them there.

// inSession bends what a job's route depends on to the session that it goes on with, if it
// goes on with one.
func (p *Plan) inSession(in route.Input) (route.Input, *route.Block) {
	if !in.Job.GoesOn() {
		return in, nil
	}
	before, block := p.routeBefore(in.Job)
	if block != nil {
		return in, block
	}
	return p.goesOn(in, before), nil
}

// goesOn is that with the route of the job before it in the session.
func (p *Plan) goesOn(in route.Input, before ledger.Route) route.Input {
	job := *in.Job
	job.Runtime, job.Model, job.Agent, job.Effort, job.Isolation, job.Fallbacks = before.Runtime, before.Model, before.Agent, before.Effort, "", nil
	in.Job, in.Continues, in.ContinuesOf, in.Isolate = &job, &before, whoseSession(in.Job), ""
	if before.Isolation == isolationWorktree {
		in.Isolate = "its session is at home in that worktree"
	} else if p.Sandbox.Holds() {
		in.Unboxed = p.unboxed(in.Job)
	}
	return in
}

// whoseSession names the job whose session another goes on with, for a person.
func whoseSession(j *spec.Job) string {
	if j.Continue != "" {
		return "job " + j.Continue
	}
	from := j.Worker.Resumes
	return cmp.Or(sessionName(from.Run, from.Job), "nobody that this program knows (its id is "+from.Session+")")
}

// routeBefore is the planned route of the job before a job in its session. It is not there
// where that one has none.
func (p *Plan) routeBefore(j *spec.Job) (before ledger.Route, block *route.Block) {
	if j.Continue == "" {
		return beforeOf(j.Worker.Resumes), nil
	}
	pl, ok := p.Planned(j.Continue)
	if !ok || !pl.routed() {
		return before, &route.Block{
			Reason: runtime.BlockedDependency, Detail: "job " + j.Continue + ", with whose session it goes on, is blocked",
			NextStep: "see to job " + j.Continue,
		}
	}
	return pl.Route, nil
}

// beforeOf is what is known of the route on which a session of another run was held.
func beforeOf(from *spec.Resumed) ledger.Route {
	before := ledger.Route{Runtime: from.Runtime, Model: from.Model, Access: string(runtime.AccessRead), Isolation: route.InCheckout}
	if from.Writes {
		before.Access = string(runtime.AccessEdit)
	}
	if from.Session != "" && from.Run == "" { // nobody knows what it was allowed
		before.Access = ""
	}
	if from.Tree != "" {
		before.Isolation = isolationWorktree
	}
	return before
}

// follower is the job that goes on with a job's session, "" = none does.
func (p *Plan) follower(id string) string { return p.continues[id] }

// followersIsolate says why the order of the jobs wants a worktree for one that goes on with
// the job's session: then the session has to begin in one.
func (p *Plan) followersIsolate(id string) string {
	for next := p.follower(id); next != ""; next = p.follower(next) {
		if why := p.Graph.IsolationWhy(next); why != "" {
			return "job " + next + " goes on with its session: " + why
		}
	}
	return ""
}

// routeOn is the route of a job that goes on with a session, from how that was really held.
func (r *run) routeOn(in route.Input, before ledger.Route) (ledger.Route, *route.Block) {
	in = r.plan.goesOn(in, before)
	if policy.Judges(in.Job.Task) {
		in.Producers = r.producers(in.Job.DependsOn)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	in.Profiles, in.Failures = r.usable(), r.failures
	return r.plan.choose(in)
}
