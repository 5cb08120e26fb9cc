package engine

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"orchestrate/internal/gate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// route chooses for every job, dependencies first, and for the arbiter.
func (p *Plan) route(e *Engine) {
	var account []ledger.Candidate
	for _, id := range p.Graph.Order() {
		pl := &p.Jobs[p.index[id]]
		if pl.Job.Gathers() {
			continue
		}
		in, block := p.inSession(p.input(e, pl))
		if pl.Block = block; block != nil {
			continue
		}
		if pl.Route, pl.Block = p.choose(in); pl.Block == nil {
			pl.Block = e.tooDeep(p, pl)
		}
		if pl.Block == nil {
			pl.Block = p.unapproved(pl)
		}
		if !reflect.DeepEqual(account, pl.Route.Candidates) {
			account = pl.Route.Candidates
		}
		pl.Route.Candidates = account               // hundreds of a list are chosen for alike
		if p.Request.Rehearse && !pl.Job.GoesOn() { // which has the route of another
			pl.Live = p.live(e, pl)
		}
	}
	if p.Arbiter.Needed {
		p.routeArbiter(e)
	}
}

// choose routes a job and holds the route against the controls that it needs. Whether
// it also needs a person's approval is for who dispatches it.
func (p *Plan) choose(in route.Input) (ledger.Route, *route.Block) {
	r, block := route.Choose(in)
	if block == nil {
		block = gate.Controls(in.Job, r, in.Sandbox)
	}
	if block == nil {
		block = p.unsuited(in.Job, r)
	}
	return r, block
}

func detail(b *route.Block) string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf("%s: %s", b.Reason, b.Detail)
}

// In a rehearsal a writer works in a tree of its own wherever there can be one: the
// person's checkout is left alone, whatever the spec says.
func (p *Plan) input(e *Engine, pl *Planned) route.Input {
	in := p.liveInput(e, pl)
	if in.Rehearse = p.Request.Rehearse; in.Rehearse && pl.Job.Writes() && in.NoWorktree == "" {
		anywhere := *pl.Job
		anywhere.Isolation = ""
		in.Job, in.Isolate = &anywhere, cmp.Or(in.Isolate, "a rehearsal leaves the checkout alone")
	}
	return in
}

// liveInput is what a job's route depends on when it is meant to work.
func (p *Plan) liveInput(e *Engine, pl *Planned) route.Input {
	in := route.Input{
		Job: pl.Job, Tiers: pl.Tiers, Profiles: p.profiles, Known: e.names(), Operator: e.Operator,
		Internal: p.Request.Internal, Sandbox: p.Sandbox, Own: e.own(),
		Isolate: p.whyIsolate(pl.Job.ID), NoWorktree: p.noWorktree(pl.Job), NoWorktreeNext: p.noTreeNext, Builds: p.builds(e),
	}
	p.orderTasks(&in)
	in.Continued = p.follower(pl.Job.ID)
	if policy.Judges(pl.Job.Task) {
		in.Producers = p.producers(pl.Job.DependsOn)
	}
	if in.Isolate == "" && p.Sandbox.Holds() {
		in.Unboxed = p.unboxed(pl.Job)
	}
	return in
}

// whyIsolate says why the spec or the order of the jobs wants a worktree for one of them.
func (p *Plan) whyIsolate(id string) string {
	if pl, ok := p.Planned(id); ok && !pl.Job.Worktree.Empty() {
		return "the spec says what its worktree holds or starts from"
	}
	if why := p.followersIsolate(id); why != "" {
		return why
	}
	if by := p.Graph.BaseFor(id); by != "" {
		return "job " + by + " starts from its work"
	}
	if why := p.Graph.IsolationWhy(id); why != "" {
		return why
	}
	if base, _ := p.Graph.BaseOf(id, p.isolated); base != "" {
		return "works at the snapshot of " + base
	}
	return ""
}

// noWorktree says why a job can have no worktree.
func (p *Plan) noWorktree(j *spec.Job) string {
	if p.noTree == "" && !inside(p.Repo.Top(), j.Cwd) {
		return fmt.Sprintf("its cwd %s is outside the repository %s", j.Cwd, p.Repo.Top())
	}
	return p.noTree
}

// builds asks an adapter whether it could build the command.
func (p *Plan) builds(e *Engine) func(string, runtime.Request) error {
	return func(name string, req runtime.Request) error {
		a, ok := e.adapter(name)
		if !ok {
			return fmt.Errorf("runtime %s is not known to this build", name)
		}
		_, err := a.Command(req, p.profile(name))
		return err
	}
}

// producers are the agents that did the given jobs, and all that those build on.
func (p *Plan) producers(ids []string) []route.Producer {
	var all []route.Producer
	for _, id := range p.producing(ids) {
		if pl, _ := p.Planned(id); !pl.Job.Exec() && pl.routed() {
			all = append(all, route.Producer{Job: id, Family: pl.Route.Family, Hosted: pl.Route.Runtime == runtime.Internal})
		}
	}
	return all
}

// producing are the given jobs and all that those build on, each once. A round of mending
// depends on the verification whose findings it mends; but whoever verified only judged, and
// may do so again: such a job is among them only where it is given itself.
func (p *Plan) producing(ids []string) (all []string) {
	seen := map[string]bool{}
	queue := slices.Clone(ids)
	for i := 0; i < len(queue); i++ {
		id, given := queue[i], i < len(ids)
		pl, ok := p.Planned(id)
		if !ok || seen[id] {
			continue
		}
		seen[id] = true
		queue = append(queue, pl.Job.DependsOn...)
		if given || !verifies(pl.Job) {
			all = append(all, id)
		}
	}
	return all
}

// verifies reports whether a job is a verification of a repair.
func verifies(j *spec.Job) bool {
	return j.Verdict != nil && j.Part != nil && j.Part.Kind == spec.PatternRepair
}

func (p *Plan) routeArbiter(e *Engine) {
	var ids []string
	for _, j := range p.Jobs {
		ids = append(ids, j.Job.ID)
	}
	in := route.ArbiterInput{
		Arbiter: p.Spec.Arbiter, Dir: p.Root, Profiles: p.profiles, Known: e.names(), Operator: e.Operator,
		Producers: p.producers(ids), Builds: p.builds(e), Rehearse: p.Request.Rehearse, Sandbox: p.Sandbox, Own: e.own(),
	}
	p.Arbiter.Job = route.ArbiterJob(p.Spec.Arbiter, p.Root)
	p.Arbiter.Route, p.Arbiter.Block = route.ArbiterRoute(in)
	if p.Request.Rehearse {
		in.Rehearse = false
		_, live := route.ArbiterRoute(in)
		p.Arbiter.Live = detail(live)
	}
}
