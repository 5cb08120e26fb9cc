package route

import (
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/spec"
)

// TestOrderOfTies: the order of the worker form decides where nothing else does, and only
// there; what it does not name comes after, by name.
func TestOrderOfTies(t *testing.T) {
	unproven := func(p runtime.Profile) runtime.Profile { p.State = runtime.StateConstrained; return p }
	a, b, c := rename(boxed, "a"), rename(boxed, "b"), rename(boxed, "c")
	for name, row := range map[string]struct {
		profiles []runtime.Profile
		order    []string
		want     string
		why      string // of the second
	}{
		"no order":            {[]runtime.Profile{c, b, a}, nil, "a", "by name"},
		"in its order":        {[]runtime.Profile{a, b, c}, []string{"x", "c", "b"}, "c", "by order of the worker form"},
		"others after":        {[]runtime.Profile{a, b}, []string{"b"}, "b", "by order of the worker form"},
		"others by name":      {[]runtime.Profile{c, b}, []string{"x"}, "b", "by name"},
		"evidence goes first": {[]runtime.Profile{a, unproven(b)}, []string{"b"}, "a", "by evidence quality"},
	} {
		r, block := Choose(input(func(in *Input) { in.Profiles, in.Order = profiles(row.profiles...), row.order }))
		if block != nil || r.Runtime != row.want {
			t.Errorf("%s: %s, %+v", name, r.Runtime, block)
			continue
		}
		if said := strings.Join(r.Candidates[1].Reasons, "; "); !strings.HasSuffix(said, row.why) {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// TestAModelAloneIsThatOfWhoListsIt: in the worker form a model without a runtime goes to
// one that lists or aliases it, and to nobody where none does, whatever a list lacks.
func TestAModelAloneIsThatOfWhoListsIt(t *testing.T) {
	partial, silent := unlisting(rename(boxed, "partial")), rename(boxed, "silent")
	silent.Models = nil
	for name, c := range map[string]struct {
		model, runtime string
		profiles       []runtime.Profile
		want           string   // "" = blocked
		says           []string // of the block
	}{
		"listed":              {"small", "", []runtime.Profile{partial, silent, editor}, "editor", nil},
		"what an alias means": {"small-1", "", []runtime.Profile{partial, silent, editor}, "editor", nil},
		"named all the same":  {"small", "partial", []runtime.Profile{partial, editor}, "partial", nil},
		"no model":            {"", "", []runtime.Profile{partial}, "partial", nil},
		"listed by none": {"haiku", "", []runtime.Profile{signed, partial, silent, editor}, "", []string{
			"partial: it neither lists nor aliases model haiku", "silent: it neither", "editor: it neither", "out: unavailable",
		}},
	} {
		r, block := Choose(input(func(in *Input) {
			in.Listed, in.Profiles, in.Job.Model, in.Job.Runtime = true, profiles(c.profiles...), c.model, c.runtime
		}))
		if c.want != "" {
			if block != nil || r.Runtime != c.want {
				t.Errorf("%s: %s, %+v", name, r.Runtime, block)
			}
			continue
		}
		if block == nil || block.Reason != runtime.BlockedNoRoute || !strings.HasPrefix(block.NextStep, "name the adapter") {
			t.Errorf("%s: %s, %+v", name, r.Runtime, block)
			continue
		}
		if i := slices.IndexFunc(c.says, func(part string) bool { return !strings.Contains(block.Detail, part) }); i >= 0 {
			t.Errorf("%s: %q is missing in %s", name, c.says[i], block.Detail)
		}
	}
}

// TestATaskThatObservesMayLeaveFiles: where its program can be held to its artifacts folder
// and the engine's sandbox is around it; nobody else gets to write because of that.
func TestATaskThatObservesMayLeaveFiles(t *testing.T) {
	able := agent("able", runtime.ControlReadOnly, runtime.ControlToolLimits, runtime.ControlArtifacts)
	unable := agent("unable", runtime.ControlReadOnly, runtime.ControlToolLimits)
	two := []spec.Output{{Path: "a.md"}, {Path: "b.md"}}
	for name, c := range map[string]struct {
		profile runtime.Profile
		host    sandbox.Level
		change  func(*Input)
		leaves  bool
		blocked bool
	}{
		"in the sandbox":       {able, enforced, func(*Input) {}, true, false},
		"two outputs":          {able, enforced, func(in *Input) { in.Job.Outputs = two }, true, false},
		"without a sandbox":    {able, bare, func(*Input) {}, false, false},
		"two without one":      {able, bare, func(in *Input) { in.Job.Outputs = two }, false, true},
		"it cannot":            {unable, enforced, func(*Input) {}, false, false},
		"a job of a spec":      {able, enforced, func(in *Input) { in.Job.Worker = nil }, false, false},
		"tools by name":        {able, enforced, func(in *Input) { in.Job.AllowedTools = []string{"Read"} }, false, false},
		"its own sandbox":      {withOwn(able), enforced, func(*Input) {}, false, false},
		"one that writes":      {able, enforced, writes, false, false},
		"two, a job of a spec": {able, enforced, func(in *Input) { in.Job.Worker, in.Job.Outputs = nil, two }, false, true},
	} {
		r, block := Choose(input(func(in *Input) {
			in.Profiles, in.Sandbox, in.Job.Worker = profiles(c.profile), c.host, &spec.Worker{AsIs: true}
			c.change(in)
		}))
		if (block != nil) != c.blocked {
			t.Errorf("%s: %+v", name, block)
		}
		if leaves := slices.Contains(r.Controls, "artifacts-only"); leaves != c.leaves || leaves && (r.Access != "read" || slices.Contains(r.Controls, "read-only")) {
			t.Errorf("%s: %s %q", name, r.Access, r.Controls)
		}
	}
}
