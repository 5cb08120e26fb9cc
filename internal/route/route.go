// Package route chooses, for one job, the runtime and model that will do it, and
// says why: for the one that was taken and for every one that was not. It decides
// from live profiles, the job's floors and the operator's configuration alone, and
// knows no model, price or tier of its own. Everything here is pure.
package route

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/spec"
)

// Names of runtimes that are special to routing.
const (
	execRuntime    = "exec"
	standinRuntime = "standin"
)

// Isolations of a route.
const (
	InCheckout = "none"
	InWorktree = "worktree"
)

// Input is all that a choice depends on.
type Input struct {
	Job      *spec.Job
	Tiers    policy.Tiers
	Profiles map[string]runtime.Profile // this run's live profiles by runtime
	Known    []string                   // names of all runtimes, also of those that were not asked
	Operator policy.Operator

	Sandbox sandbox.Level // what this host enforces, the zero value nothing
	// Unboxed says why the engine's sandbox cannot bound the job in the shared checkout;
	// "" = it can.
	Unboxed string
	// Own names the runtimes that work only in a sandbox of their own
	// (runtime.Confinement.Own): the engine's is not put around them.
	Own map[string]bool

	Isolate        string // why the graph wants a worktree for the job; "" = it does not
	NoWorktreeNext string // what a person can do about that; "" = make a repository
	NoWorktree     string // why none can be made here ("not a git repository"); "" = it can

	Tried    []Tried        // earlier attempts of this job that failed; only declared fallbacks follow
	Failures map[string]int // failed attempts per runtime in this run

	// Builds asks a runtime's adapter whether it can build a command for the
	// request from verified evidence (tool limits above all); nil = not asked.
	Builds func(name string, req runtime.Request) error

	Producers          []Producer // whose work this job judges, if it does
	NoAgents           bool       // it judges, and no agent had a part in what it judges
	RequireIndependent bool       // a family not known to differ from all producers is refused
	Rehearse           bool       // the stand-in takes the place of every agent
	// Listed says that a model which is wanted of no particular runtime is only that of one
	// that lists or aliases it (the worker form); else what is known to list a part counts.
	Listed bool
	// Order breaks ties between runtimes: names in it come first, in this order.
	Order []string
	// Continues is the route of the job whose session this one goes on with; nil = it begins
	// one. Only that runtime, with that model, can.
	Continues *ledger.Route
	// ContinuesOf names the job, for a person.
	ContinuesOf string
	// Continued is the job that goes on with this one's session, "" = none does: a runtime
	// that cannot is no choice.
	Continued string
	Internal  bool // the hosting session's own agents are considered for unpinned jobs
}

// Tried is an earlier attempt of the job.
type Tried struct {
	Runtime  string
	Model    string // as it was on the command line
	Reason   runtime.Reason
	Access   runtime.Access // of its route; "" = not known
	Controls []string       // of its route: a successor holds them too
}

// TriedOn is an attempt that failed on a route.
func TriedOn(r ledger.Route, why runtime.Reason) Tried {
	return Tried{Runtime: r.Runtime, Model: r.Model, Reason: why, Access: runtime.Access(r.Access), Controls: r.Controls}
}

// Producer is a job whose work is judged. A plain program has no family and is
// left out by the caller.
type Producer struct {
	Job    string
	Family string // "" = unknown
	Hosted bool   // an agent of the hosting session did it
}

// Block says why a job cannot be dispatched, and what a person can do about it.
type Block struct {
	Reason   runtime.Reason
	Detail   string
	NextStep string
}

// Choose picks the route of a job's next attempt. When nothing qualifies the Block
// says why; the Route then still holds the job's tiers and all candidates.
func Choose(in Input) (ledger.Route, *Block) {
	options := in.options()
	for _, o := range options {
		in.judge(o)
	}
	slices.SortStableFunc(options, in.compare)
	i := slices.IndexFunc(options, func(o *option) bool { return len(o.failures) == 0 })
	if i < 0 {
		return in.record(options, nil), in.block(options)
	}
	return in.routed(options, options[i]), nil
}

// record is what is known about a job whether it has a route or not.
func (in Input) record(options []*option, chosen *option) ledger.Route {
	return ledger.Route{
		Agent: in.Job.Agent, Effort: in.Job.Effort,
		CapabilityFloor: string(in.Tiers.Capability), Risk: string(in.Tiers.Risk), RiskWhy: in.Tiers.RiskWhy,
		Placeholder: in.Job.RuntimePlaceholder, Candidates: in.candidates(options, chosen),
	}
}

func (in Input) routed(options []*option, chosen *option) ledger.Route {
	r := in.record(options, chosen)
	r.Runtime, r.Model = chosen.name, chosen.model
	r.Agent = cmp.Or(chosen.agent, in.agentFor(chosen))
	r.Capability, r.CapabilitySource = string(chosen.capability), chosen.capabilitySource
	r.Effort, r.EffortWhy = chosen.effort, chosen.effortWhy
	r.Family, r.Independence = chosen.family, chosen.independence
	r.Isolation, r.IsolationWhy = chosen.isolation, chosen.isolationWhy
	r.Risk, r.RiskWhy = string(chosen.tiers.Risk), chosen.tiers.RiskWhy
	r.Access, r.Sandbox = string(chosen.access), chosen.sandbox
	r.Controls, r.Constrained = chosen.controls, chosen.constrained
	r.Why = in.why(options, chosen)
	return r
}

// fallbackPrefix begins the Why of a route that is a declared fallback.
const fallbackPrefix = "declared fallback: "

// why explains the choice in one line.
func (in Input) why(options []*option, chosen *option) string {
	switch {
	case in.Continues != nil:
		return "goes on with the session of " + in.ContinuesOf + chosen.modelNote()
	case chosen.group > 0:
		return fallbackPrefix + in.whyFallback(options)
	case in.Job.Exec() && in.Job.Worker != nil:
		return ledger.OwnCommand
	case in.Job.Exec():
		return "a plain program"
	case in.Rehearse:
		return "rehearsal: the stand-in takes the place of " + in.part(0)
	case in.Job.Runtime != "":
		return "named by " + in.asker() + chosen.modelNote() + in.agentNote(chosen)
	case in.Internal && chosen.hosted():
		return "the hosting session's agents come first (--internal)" + chosen.modelNote() + in.agentNote(chosen)
	case in.Internal:
		return "no agent of the hosting session qualifies (" + in.whyNoneHosted(options) + "), so chosen by policy" + chosen.modelNote()
	}
	return "chosen by policy" + chosen.modelNote()
}

func (in Input) whyFallback(options []*option) string {
	n := len(in.Tried)
	if in.Rehearse && n > 0 {
		return fmt.Sprintf("%s ended with %s; the stand-in takes the place of %s", in.part(n-1), in.Tried[n-1].Reason, in.part(n))
	}
	if n > 0 {
		return in.Tried[n-1].Runtime + " ended with " + string(in.Tried[n-1].Reason)
	}
	for _, o := range options {
		if len(o.failures) > 0 {
			return o.title() + ": " + o.failures[0].detail
		}
	}
	return "nothing before it qualified"
}

// FallbackReason is why a route is not the job's first choice; "" when it is.
func FallbackReason(r ledger.Route) string {
	reason, ok := strings.CutPrefix(r.Why, fallbackPrefix)
	if !ok {
		return ""
	}
	return reason
}

// candidates records every option with its reasons.
func (in Input) candidates(options []*option, chosen *option) []ledger.Candidate {
	out := []ledger.Candidate{}
	options, more := leftOut(options, chosen)
	for _, o := range options {
		c := ledger.Candidate{Runtime: o.name, Agent: o.agent, Model: cmp.Or(o.model, o.profile.DefaultModel), Chosen: o == chosen, Account: in.account(o)}
		for _, f := range o.failures {
			c.Reasons = append(c.Reasons, f.detail)
		}
		if len(c.Reasons) == 0 {
			c.Reasons = o.merits()
			if o != chosen {
				_, by := in.apart(chosen, o)
				c.Reasons = append(c.Reasons, "qualified, but comes after "+chosen.title()+" by "+by)
			}
		}
		out = append(out, c)
	}
	for i := len(out) - 1; i >= 0 && more > 0; i-- {
		if out[i].Runtime == runtime.Internal && !out[i].Chosen {
			out[i].Reasons = append(out[i].Reasons, fmt.Sprintf("%d more agents of the session come after it", more))
			break
		}
	}
	return out
}

// block explains that nothing qualified. The candidate that came furthest gives
// the reason and the next step, since it is nearest to being usable. What policy
// would have considered if it were installed is only named.
func (in Input) block(options []*option) *Block {
	if len(options) == 0 {
		return in.nothing()
	}
	best := options[0]
	var details, missing []string
	shown, more := leftOut(options, nil)
	for _, o := range shown {
		if o.reached() > best.reached() {
			best = o
		}
		if o.ranked && o.absent() {
			missing = append(missing, o.name)
			continue
		}
		details = append(details, o.title()+": "+o.failures[0].detail)
	}
	if more > 0 {
		details = append(details, fmt.Sprintf("and so %d more agents of the session", more))
	}
	if len(missing) > 0 {
		details = append(details, "not installed: "+strings.Join(missing, ", "))
	}
	next := best.failures[0].next
	if best.ranked && best.absent() {
		next = in.installOne()
	}
	if in.Listed && best.failures[0].reason == runtime.BlockedNoRoute && slices.ContainsFunc(options, func(o *option) bool { return o.ranked && o.unlisted }) {
		next = nameAdapter // whichever came first of those that are asked in vain
	}
	return &Block{Reason: best.failures[0].reason, Detail: strings.Join(details, "; "), NextStep: next}
}

// installOne is what a person does where no coding agent is at hand.
func (in Input) installOne() string {
	next := "install a coding agent and sign in to it: `orchestrate doctor` says how"
	if in.Job.Task != policy.TaskArbiter { // of which the same is said
		next += "; `orchestrate rehearse SPEC` needs none"
	}
	return next
}

// nothing is the block of a job for which there is not even a candidate.
func (in Input) nothing() *Block {
	if n := len(in.Tried); n > 0 {
		return &Block{
			Reason:   runtime.BlockedNoRoute,
			Detail:   "no declared fallback is left after " + in.Tried[n-1].Runtime + " ended with " + string(in.Tried[n-1].Reason),
			NextStep: "add a fallback_runtime to the job, or see what went wrong in the job's stderr.txt",
		}
	}
	return &Block{
		Reason:   runtime.BlockedNoRoute,
		Detail:   "no coding-agent runtime is known or enabled here",
		NextStep: in.installOne(),
	}
}
