package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// agentMistakes are those of what is said about agents: only those of a hosting session
// are known by name alone.
func (r RuntimeRule) agentMistakes(name string) (all []mistake) {
	if len(r.Agents) > 0 && name != runtime.Internal {
		return []mistake{{[]string{"runtimes", name, "agents"}, "only the agents of runtimes.internal are known one by one; say it of the runtime or of its models"}}
	}
	for _, agent := range slices.Sorted(maps.Keys(r.Agents)) {
		if text := r.Agents[agent].Capability.mistake(); text != "" {
			all = append(all, mistake{[]string{"runtimes", name, "agents", agent, "capability"}, text})
		}
	}
	return all
}

// hostedCapability is that of a hosting session's agent: what the operator says of it,
// else what the session's word on its tools shows, which is never judgment.
func hostedCapability(p runtime.Profile, model string, op Operator) (Capability, string) {
	if len(p.Agents) != 1 {
		return NoCapability, "each of its agents has its own"
	}
	a, rule := p.Agents[0], op.Runtimes[runtime.Internal]
	if c := rule.Agents[a.Name].Capability; c != NoCapability {
		return c, operatorSays + "runtimes.internal.agents." + a.Name
	}
	if c, where := op.capability(runtime.Internal, []string{model}); c != NoCapability {
		return c, operatorSays + where
	}
	switch reach := a.Reach(); {
	case a.Tools == nil:
		return C1, "the hosting session does not say which tools it has"
	case reach == runtime.AccessEdit, reach == runtime.AccessShell:
		return C2, fmt.Sprintf("said by the hosting session: tools, access %s", reach)
	}
	return C1, "nothing more was said by the hosting session"
}

// hostedFamily is the maker of the model of a hosting session's agent, as far as the
// operator says so.
func hostedFamily(p runtime.Profile, model string, op Operator) (family, source string) {
	if len(p.Agents) == 1 {
		if f := op.Runtimes[runtime.Internal].Agents[p.Agents[0].Name].Family; f != "" {
			return strings.ToLower(f), operatorSays + "runtimes.internal.agents." + p.Agents[0].Name
		}
	}
	if f, where := op.family(runtime.Internal, []string{model}); f != "" {
		return strings.ToLower(f), operatorSays + where
	}
	return "", "unknown"
}
