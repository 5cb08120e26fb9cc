package route

import (
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
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
