package engine

import (
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// What was said of the chosen agent's tools holds another one only as far as the same was
// said of that one.
func TestWhatHoldsAnotherAgent(t *testing.T) {
	session := runtime.Profile{Runtime: runtime.Internal, Agents: []runtime.Agent{
		{Name: "reader", Tools: []string{"Read"}, Access: runtime.AccessRead},
		{Name: "twin", Tools: []string{"Grep"}, Access: runtime.AccessRead},
		{Name: "vague", Tools: []string{"*"}, Access: runtime.AccessRead},
		{Name: "editor", Tools: []string{"Edit"}, Access: runtime.AccessEdit},
	}}
	r := &run{profiles: map[string]runtime.Profile{runtime.Internal: session}}
	a := &attempt{route: ledger.Route{
		Runtime: runtime.Internal, Agent: "reader", Controls: []string{"capture", "read-only", "tool-limits", "fingerprint"},
		Constrained: []string{"no sandbox"},
	}}
	for did, want := range map[string][]string{
		"twin":     {"capture", "read-only", "tool-limits", "fingerprint"},
		"editor":   {"capture", "tool-limits", "fingerprint"},
		"vague":    {"capture", "fingerprint"},
		"stranger": {"capture", "fingerprint"},
	} {
		controls, constrained := r.ofAnother(a, did)
		if !slices.Equal(controls, want) {
			t.Errorf("%s: %v, want %v", did, controls, want)
		}
		if len(constrained) != 2 || !strings.Contains(constrained[1], "agent "+did+" did it, and not reader") {
			t.Errorf("%s: constrained %q", did, constrained)
		}
	}
	for said, want := range map[string]string{"": "", "reader": "", "twin": "twin"} {
		a.back = &handoff.Submission{Agent: said}
		if got := a.didIt(); got != want {
			t.Errorf("said %q: %q did it", said, got)
		}
	}
}
