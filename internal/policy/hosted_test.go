package policy

import (
	"strings"
	"testing"

	"orchestrate/internal/runtime"
)

func TestWhatAnAgentOfTheSessionIsCapableOf(t *testing.T) {
	op := operator(t, `
runtimes:
  internal:
    models: {big: {capability: C3, family: Maker}}
    agents: {critic: {capability: C3, family: Other}, weak: {capability: C1}}
`)
	all := operator(t, "runtimes: {internal: {capability: C2, family: Ours}}")
	for name, c := range map[string]struct {
		agent          runtime.Agent
		op             Operator
		want           Capability
		source, family string
	}{
		"nothing said":           {runtime.Agent{Name: "a"}, Operator{}, C1, "does not say which tools", ""},
		"access without tools":   {runtime.Agent{Name: "a", Access: runtime.AccessShell}, Operator{}, C1, "does not say which tools", ""},
		"tools that read":        {runtime.Agent{Name: "a", Tools: []string{"Read"}, Access: runtime.AccessRead}, Operator{}, C1, "nothing more", ""},
		"tools that edit":        {runtime.Agent{Name: "a", Tools: []string{"Read", "Edit"}}, Operator{}, C2, "tools, access edit", ""},
		"all tools":              {runtime.Agent{Name: "a", Tools: []string{"*"}}, Operator{}, C2, "tools, access shell", ""},
		"the operator, by name":  {runtime.Agent{Name: "critic", Model: "big"}, op, C3, "operator's configuration, runtimes.internal.agents.critic", "other"},
		"the operator, lower":    {runtime.Agent{Name: "weak", Tools: []string{"*"}}, op, C1, "agents.weak", ""},
		"the operator, by model": {runtime.Agent{Name: "a", Model: "big"}, op, C3, "runtimes.internal.models.big", "maker"},
		"the operator, for all":  {runtime.Agent{Name: "a"}, all, C2, "operator's configuration, runtimes.internal", "ours"},
	} {
		p := runtime.Profile{Runtime: runtime.Internal, Kind: runtime.KindInternal}.OfAgent(c.agent)
		got, source := CapabilityOf(p, "", c.op)
		family, _ := FamilyOf(p, "", c.op)
		if got != c.want || !strings.Contains(source, c.source) || family != c.family {
			t.Errorf("%s: %s (%s), family %q", name, got, source, family)
		}
	}
}

func TestASessionHasNoCapabilityOfItsOwn(t *testing.T) {
	p := Judged(runtime.Profile{Runtime: runtime.Internal, Kind: runtime.KindInternal, Agents: []runtime.Agent{{Name: "a"}, {Name: "b"}}}, Operator{})
	if p.Capability != "" || p.CapabilitySource != "each of its agents has its own" {
		t.Errorf("%q, %q", p.Capability, p.CapabilitySource)
	}
}

func TestAgentsAreSaidOfTheSessionOnly(t *testing.T) {
	for text, want := range map[string]string{
		"runtimes:\n  internal:\n    agents: {a: {capability: C9}}\n": "config.yaml:3: runtimes.internal.agents.a.capability: found \"C9\"",
		"runtimes:\n  claude:\n    agents: {a: {capability: C2}}\n":   "config.yaml:3: runtimes.claude.agents: only the agents of runtimes.internal",
	} {
		if _, err := ParseOperator("config.yaml", []byte(text), nil, "/home/me"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
