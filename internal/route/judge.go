package route

import (
	"cmp"
	"slices"

	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
)

const doctor = "type `orchestrate doctor` to see what was found"

// test is one criterion that drops an option.
type test struct {
	criterion string
	check     func(Input, *option)
	finding   func(Input, *option) string // what is found of one that passes
}

// tests are in the order in which candidates are dropped: not live, pins not met,
// below a floor, without the controls of the tier, not independent where that is
// required.
func tests() []test {
	return []test{
		{critLive, Input.checkLive, foundLive},
		{critPins, Input.checkPins, foundPins},
		{critFloor, Input.checkCapability, foundFloor},
		{critControls, Input.checkControls, foundControls},
		{critIndependence, Input.checkIndependence, foundIndependence},
	}
}

// judge finds everything that speaks against an option. What is not live cannot be
// asked for more.
func (in Input) judge(o *option) {
	for _, t := range tests() {
		o.testing = t.criterion
		t.check(in, o)
		if t.criterion == critLive && len(o.failures) > 0 {
			return
		}
	}
}

// checkPins: what the spec names is a constraint and is never replaced.
func (in Input) checkPins(o *option) {
	in.checkSession(o)
	in.checkModel(o)
	in.checkAgent(o)
	in.checkEffort(o)
}

// checkOutputs: on a route that can leave nothing the final answer is the one
// output that there can be.
func (in Input) checkOutputs(o *option) {
	agent := o.profile.Kind == runtime.KindCLI || o.hosted()
	if n := len(in.Job.Outputs); agent && o.access == runtime.AccessRead && o.native != runtime.ControlArtifacts && n > 1 {
		o.fail(runtime.BlockedRiskControls, "declare one output, which the final answer becomes, or give the job an effect that writes",
			"%d outputs are declared, and it can write none of them: only its final answer is kept", n)
	}
}

// checkLive: what this machine does not show to be there and usable now is not
// considered further.
func (in Input) checkLive(o *option) {
	p := o.profile
	switch {
	case !o.known:
		o.fail(runtime.BlockedNoRoute, doctor+", and correct the name of the runtime in the spec",
			"no runtime of this name is known here%s", likely(o.name, in.Known))
	case !p.Routable():
		o.fail(runtime.BlockedNoRoute, cmp.Or(p.NextStep, doctor), "%s: %s", p.State, cmp.Or(p.Reason, "it was not proven usable"))
	}
}

// checkModel holds a wanted model against the live list. A list that is missing
// or known to be partial does not block: the model that answers decides.
func (in Input) checkModel(o *option) {
	p := o.profile
	if o.model == "" || p.Kind == runtime.KindStandin {
		return
	}
	if o.hosted() {
		in.checkHostedModel(o)
		return
	}
	if !p.Has(runtime.ControlModel) {
		o.fail(runtime.BlockedNoRoute, "leave the model out for this runtime, or see with `orchestrate doctor` what it lacks",
			"model %s is wanted by %s, but there is no way to ask for a model: %s", o.model, o.modelBy, p.EvidenceOf(runtime.ControlModel))
		return
	}
	if _, ok := p.ModelNamed(o.model); ok {
		return
	}
	if in.Listed && o.ranked {
		o.unlisted = true
		o.fail(runtime.BlockedNoRoute, nameAdapter, "it neither lists nor aliases model %s", o.model)
		return
	}
	var ids []string
	for _, m := range p.Models {
		ids = append(ids, m.ID)
	}
	if len(p.Models) == 0 || p.ModelsPartial {
		o.unlisted = true
		o.constrained = append(o.constrained, "model "+o.model+" is not in the live list, which is not complete"+likely(o.model, ids))
		return
	}
	o.fail(runtime.BlockedNoRoute, "choose one of the live models ("+offer("models", o.model, ids)+"), or leave the model out",
		"model %s is wanted by %s and is not in its live list", o.model, o.modelBy)
}

// nameAdapter is what a person does where no runtime says that it has a model.
const nameAdapter = "name the adapter whose model it is (`--adapter NAME`, or `\"adapter\": \"NAME\"` in the manifest), or leave the model out; `orchestrate doctor` shows what each lists"

// agentFor is the agent that the job names, as far as that binds the option: as with a model,
// a pin binds only its own runtime; without one it binds whichever runtime is chosen.
func (in Input) agentFor(o *option) string {
	name := o.name
	if in.Rehearse {
		name = in.part(o.group)
	}
	if in.Job.Runtime != "" && name != in.Job.Runtime {
		return ""
	}
	return in.Job.Agent
}

// checkAgent: an agent that is named for the option is a constraint.
func (in Input) checkAgent(o *option) {
	name, p := in.agentFor(o), o.profile
	if name == "" || p.Kind == runtime.KindStandin {
		return
	}
	if !p.Has(runtime.ControlAgent) {
		o.fail(runtime.BlockedNoRoute, "leave agent out, or name a runtime that has agents", "agent %s is wanted, but it has no way to ask for one", name)
		return
	}
	if slices.ContainsFunc(p.Agents, func(a runtime.Agent) bool { return a.Name == name }) {
		return
	}
	var names []string
	for _, a := range p.Agents {
		names = append(names, a.Name)
	}
	o.fail(runtime.BlockedNoRoute, "choose one of its live agents ("+offer("agents", name, names)+"), or leave agent out",
		"agent %s is not in its live list", name)
}

// checkCapability: the floor of the task, by what is known of the model that would
// answer.
func (in Input) checkCapability(o *option) {
	o.capability, o.capabilitySource = policy.CapabilityOf(o.profile, o.model, in.Operator)
	o.family, _ = policy.FamilyOf(o.profile, o.model, in.Operator)
	switch {
	case o.profile.Kind == runtime.KindExec && policy.Judges(in.Job.Task):
		o.fail(runtime.BlockedCapability, "give the job to a coding agent, or call it task: test", "a plain program is never a reviewer or arbiter")
	case o.profile.Kind == runtime.KindExec:
	case o.capability.Less(in.Tiers.Capability):
		rule := "{capability: " + string(in.Tiers.Capability) + "}"
		if o.agent != "" {
			rule = "{agents: {" + o.agent + ": " + rule + "}}"
		}
		o.fail(runtime.BlockedCapability,
			"if you know better, say `runtimes: {"+o.name+": "+rule+"}` in the operator's configuration (`orchestrate init` writes one), or name another runtime",
			"its capability is %s (%s), the task %s needs %s", o.capability, o.capabilitySource, in.Job.Task, in.Tiers.Capability)
	}
}

// Independent is the Independence of a judge that is known to be of another family
// than all whose work it judges.
const Independent = "independent"

// OfNoAgent is the Independence of a judge of what only plain programs did: nobody's
// family could be its own.
const OfNoAgent = "independent: no agent produced anything"

// IsIndependent reports whether an Independence says that a judge is independent.
func IsIndependent(s string) bool { return s == Independent || s == OfNoAgent }

// checkIndependence compares families with those of the judged work. An unknown
// family proves nothing.
func (in Input) checkIndependence(o *option) {
	if in.NoAgents {
		o.independence = OfNoAgent
		return
	}
	if !policy.Judges(in.Job.Task) || len(in.Producers) == 0 {
		return
	}
	o.independence = Independent
	why := dependsOn(o.family, in.Producers)
	if o.hosted() {
		why = cmp.Or(ownWork(in.Producers), why)
	}
	if why != "" {
		o.independence = "not-independent: " + why
	}
	if in.RequireIndependent && o.independence != Independent {
		o.fail(runtime.BlockedIndependence,
			"sign in to a runtime of another maker, say its family in the operator's configuration, or take require_independent out",
			"an independent judge is required, and it is %s", o.independence)
	}
}

// ownWork says that a hosting session would judge what it did itself, "" = it did nothing
// of it. Whatever model its agents have, one session instructs and hears them all.
func ownWork(producers []Producer) string {
	for _, p := range producers {
		if p.Hosted {
			return "job " + p.Job + " was done by the same hosting session"
		}
	}
	return ""
}

// dependsOn says why a family is not known to differ from all producers'.
func dependsOn(family string, producers []Producer) string {
	if family == "" {
		return "its own family is unknown"
	}
	for _, p := range producers {
		if p.Family == family {
			return "job " + p.Job + " was done by the same family (" + family + ")"
		}
	}
	for _, p := range producers {
		if p.Family == "" {
			return "the family that did job " + p.Job + " is unknown"
		}
	}
	return ""
}
