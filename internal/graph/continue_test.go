package graph

import (
	"testing"

	"orchestrate/internal/spec"
)

func goesOn(j spec.Job, from string) spec.Job {
	j.Continue, j.DependsOn = from, append(j.DependsOn, from)
	return j
}

// TestWhoGoesOnWithASessionStartsWhereThatIs: at what the one before left, or where one that
// only looked looked, whatever else it depends on.
func TestWhoGoesOnWithASessionStartsWhereThatIs(t *testing.T) {
	g := build(t,
		writer("w", []string{"w.txt"}), writer("other", []string{"o.txt"}),
		job("looks", "w"), goesOn(job("more", "other"), "looks"), goesOn(writer("on", []string{"w.txt"}, "other"), "w"),
	)
	isolated := func(string) bool { return true }
	for id, want := range map[string]string{"more": "w", "on": "w"} {
		base, several := g.BaseOf(id, isolated)
		if base != want || len(several) != 1 || several[0] != "other" {
			t.Errorf("%s starts from %q beside %v", id, base, several)
		}
	}
	if base, _ := g.BaseOf("on", func(string) bool { return false }); base != "" {
		t.Errorf("in the shared checkout it starts from %q", base)
	}
}
