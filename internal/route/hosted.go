package route

import (
	"cmp"
	"slices"
	"strings"

	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
)

// hosted reports whether the option is an agent of the hosting session.
func (o *option) hosted() bool { return o.name == runtime.Internal }

// session offers the hosting session's agents, each an option of its own: the one that
// the job names, else all. What has no agents is an option all the same, that says why.
func (in Input) session(group int) []*option {
	whole := in.option(runtime.Internal, group)
	whole.ranked = true
	if !whole.profile.Routable() {
		return []*option{whole}
	}
	var all []*option
	job := wantedOf(in.Job)
	for _, a := range whole.profile.Agents {
		if named := in.agentFor(whole); named != "" && named != a.Name {
			continue
		}
		o := in.option(runtime.Internal, group)
		o.ranked, o.agent, o.match = true, a.Name, job.match(a)
		o.profile = o.profile.OfAgent(a)
		all = append(all, o)
	}
	if len(all) == 0 {
		return []*option{whole}
	}
	return all
}

// general reports whether the option's agent takes any task.
func (o *option) general() bool { return len(o.profile.Agents) == 1 && o.profile.Agents[0].General }

// checkSession: what an agent of the session can never be, and who is not meant.
func (in Input) checkSession(o *option) {
	switch {
	case !o.hosted():
	case in.Job.Task == policy.TaskArbiter:
		o.fail(runtime.BlockedNoRoute, "leave arbiter.runtime out, or name a coding agent that is installed",
			"the arbiter is a fresh session that only reads and is nobody's whose work it judges; the hosting session can show none of that")
	case in.Tiers.Risk == policy.R3:
		o.fail(runtime.BlockedRiskControls, "name a runtime that a sandbox holds, or do this step by hand",
			"R3 (%s) is never given to the hosting session's agents: no sandbox holds them", in.Tiers.RiskWhy)
	case o.agent != "" && in.agentFor(o) == "" && in.Job.Runtime != runtime.Internal && !o.general() && !o.match.fits:
		o.fail(runtime.BlockedNoRoute, "say in its description what it is good for, say `general: true` of one that takes any task, or name it in the job (`runtime: internal`, `agent: "+o.agent+"`)",
			"nothing that is said of agent %s has to do with task %s", o.agent, in.Job.Task)
	}
}

// checkHostedModel holds a wanted model against what the session says of its agent.
func (in Input) checkHostedModel(o *option) {
	switch said := o.profile.DefaultModel; {
	case o.model == "" || o.agent == "":
	case said == "":
		o.unlisted = true
		o.constrained = append(o.constrained, "model "+o.model+" is not verified: the hosting session does not say which model agent "+o.agent+" has")
	case said != o.model:
		o.fail(runtime.BlockedNoRoute, "choose an agent of that model, or leave the model out",
			"model %s is wanted by %s, and agent %s has %s", o.model, o.modelBy, o.agent, said)
	}
}

// checkHostedTools: nothing here can take a tool from an agent of the session. What it
// has must be within what the job allows, as the session lists it.
func (in Input) checkHostedTools(o *option) {
	if !o.hosted() || o.agent == "" || in.Job.AllowedTools == nil && len(in.Job.DisallowedTools) == 0 {
		return
	}
	const next = "choose an agent whose tools are listed and are all allowed, or leave allowed_tools and disallowed_tools out"
	a := o.profile.Agents[0]
	if !a.Limited() {
		o.fail(runtime.BlockedRiskControls, next, "the job limits its tools, and %s", o.profile.EvidenceOf(runtime.ControlToolLimits))
		return
	}
	var beyond []string
	for _, tool := range a.Tools {
		bare, _, _ := strings.Cut(tool, "(")
		outside := in.Job.AllowedTools != nil && !slices.Contains(in.Job.AllowedTools, tool)
		if outside || slices.Contains(in.Job.DisallowedTools, tool) || slices.Contains(in.Job.DisallowedTools, bare) {
			beyond = append(beyond, tool)
		}
	}
	if len(beyond) > 0 {
		o.fail(runtime.BlockedRiskControls, next, "agent %s has tools that the job does not allow, and nothing can take them from it: %s", o.agent, strings.Join(beyond, ", "))
	}
}

// grantHosted: an agent of the session is asked for no more than the job needs. A shell
// is granted where allowed_tools asks for one that it has.
func (in Input) grantHosted(o *option) {
	o.access = runtime.AccessRead
	if in.Job.Writes() {
		o.access = runtime.AccessEdit
	}
	if o.agent == "" {
		return
	}
	a := o.profile.Agents[0]
	reach := a.Reach()
	switch {
	case reach == runtime.AccessShell && len(in.Job.AllowedTools) > 0:
		o.access = runtime.AccessShell
	case in.Job.Writes() && reach == runtime.AccessRead:
		o.fail(runtime.BlockedRiskControls, "choose an agent that edits", "the job changes files, and agent %s only reads", o.agent)
	}
	if !in.Tiers.Risk.Less(policy.R2) && reach == runtime.AccessShell && o.access != runtime.AccessShell {
		o.fail(runtime.BlockedRiskControls, "choose an agent without a shell, or name a runtime with a sandbox",
			"%s (%s) needs a sandbox for its shell, and no sandbox holds the hosting session's agents", in.Tiers.Risk, in.Tiers.RiskWhy)
	}
}

// excess says what an agent of the session can do beyond what it is asked to do; "" =
// nothing that anybody said.
func (o *option) excess() string {
	if o.agent == "" {
		return ""
	}
	switch reach := o.profile.Agents[0].Reach(); {
	case reach == "":
		return "what its tools can do is not said; it is only asked to keep to what the job may do"
	case wider(reach, o.access):
		return "its tools give it " + string(reach) + " access, and it is only asked to keep to " + string(o.access)
	}
	return ""
}

// mostHosted is how many agents of a session a record tells of, beside the one that was
// taken: a session may have hundreds.
const mostHosted = 8

// leftOut are options that a record need not tell of, and how many those are.
func leftOut(options []*option, chosen *option) (kept []*option, more int) {
	told := 0
	for _, o := range options {
		if o.hosted() && o != chosen {
			if told == mostHosted {
				more++
				continue
			}
			told++
		}
		kept = append(kept, o)
	}
	return kept, more
}

// title is the option's name for a person: of an agent of the session, that too.
func (o *option) title() string {
	if o.agent == "" {
		return o.name
	}
	return o.name + " (agent " + o.agent + ")"
}

// compareMatch puts agents of the session in order: who fits the task, specific ones
// before those that take any task, then by score.
func compareMatch(a, b *option) int {
	return cmp.Or(cmp.Compare(b.suits(), a.suits()), cmp.Compare(b.match.score, a.match.score))
}

// suits: a specific agent that fits, then one that takes any task, then the rest.
func (o *option) suits() int {
	switch {
	case o.agent == "":
		return 0
	case !o.general() && o.match.fits:
		return 2
	case o.general():
		return 1
	}
	return 0
}

func (o *option) foundMatch() string {
	switch {
	case o.agent == "":
		return ""
	case o.general():
		return "takes any task, " + o.match.told()
	case !o.match.fits:
		return "nothing that is said of it has to do with the task, " + o.match.told()
	}
	return o.match.told()
}

// sessionFallback is the session as the n-th declared fallback.
func (in Input) sessionFallback(n int, model string) (out []*option) {
	for _, o := range in.session(n) {
		if model != "" {
			o.model, o.modelBy = model, in.asker()
		}
		if !in.tried(o) {
			out = append(out, o)
		}
	}
	return out
}

// agentNote says how an agent of the session was found, "" = the spec names it.
func (in Input) agentNote(o *option) string {
	if o.agent == "" || in.agentFor(o) != "" {
		return ""
	}
	return ", agent " + o.agent + ": " + o.foundMatch()
}

// whyNoneHosted is what speaks against the agent of the session that came furthest.
func (in Input) whyNoneHosted(options []*option) string {
	best := (*option)(nil)
	for _, o := range options {
		if o.hosted() && len(o.failures) > 0 && (best == nil || o.reached() > best.reached()) {
			best = o
		}
	}
	if best == nil {
		return "none is there"
	}
	return best.title() + ": " + best.failures[0].detail
}
