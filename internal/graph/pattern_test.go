package graph

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/spec"
)

func afterAll(j spec.Job) spec.Job {
	j.AfterAll = true
	return j
}

// TestOneThatGathersWaitsForTheEndOnly: it is released by the last that ends, however, also
// by one that is blocked and never runs; who shares its list and needs successes is not.
func TestOneThatGathersWaitsForTheEndOnly(t *testing.T) {
	tr := build(t, job("a"), job("b", "a"), job("c"), afterAll(job("g", "b", "c")), job("h", "b", "c"), job("i", "g")).Track()
	tr.Start("c")
	tr.Settle("c", true, "")
	if got := tr.Released(); !slices.Equal(got, []string{"a"}) {
		t.Fatalf("released %v", got)
	}
	blocked := tr.Settle("a", false, "failed: crash")
	want := []Blocked{{ID: "b", Root: "a", Detail: "a failed: crash"}, {ID: "h", Root: "a", Detail: "a failed: crash"}}
	if diff := cmp.Diff(want, blocked); diff != "" {
		t.Error(diff)
	}
	if got := tr.Released(); !slices.Equal(got, []string{"g"}) {
		t.Errorf("released %v", got)
	}
	tr.Settle("g", true, "")
	if got := tr.Released(); !slices.Equal(got, []string{"i"}) {
		t.Errorf("released %v", got)
	}
}

// repaired is a writer with two rounds of work, their verifications, and both gathers.
func repaired() []spec.Job {
	own := []string{"src/**"}
	rounds := &spec.Gather{Kind: spec.PatternRepair, Work: []string{"x-1", "x-2"}, Verifies: []string{"v-1", "v-2"}}
	x, v := afterAll(job("x", "x-1", "v-1", "x-2", "v-2")), afterAll(job("v", "x-1", "v-1", "x-2", "v-2"))
	x.Gather, v.Gather = rounds, rounds
	return []spec.Job{
		writer("x-1", own), job("v-1", "x-1"), writer("x-2", own, "x-1", "v-1"), job("v-2", "x-2"),
		x, v, job("d", "x"), writer("w", own, "v"),
	}
}

// TestWhoComesAfterARepairStartsFromItsLastRound: by either of its names, and by the round
// before where the last was not needed.
func TestWhoComesAfterARepairStartsFromItsLastRound(t *testing.T) {
	g := build(t, repaired()...)
	for skipped, want := range map[string]string{"": "x-2", "x-2": "x-1"} {
		isolated := func(id string) bool { return id != skipped }
		for _, id := range []string{"d", "w"} {
			base, several := g.BaseOf(id, isolated)
			if base != want || several != nil {
				t.Errorf("%s without %q starts from %q, several %v", id, skipped, base, several)
			}
			if holds := g.Holds(id, isolated); !slices.Contains(holds, "x-1") {
				t.Errorf("%s without %q holds %v", id, skipped, holds)
			}
		}
	}
	if w := g.Warnings(func(string) bool { return true }); len(w) > 0 {
		t.Errorf("warnings: %v", w)
	}
}

// itemWriter is one of a list whose items are not known before the run.
func itemWriter(id string, owned ...string) spec.Job {
	j := writer(id, owned)
	j.Item = &spec.Item{Of: "each", From: []string{"list"}}
	return j
}

func TestPathsWithAnItemThatIsNotKnown(t *testing.T) {
	known := itemWriter("known", "src/a/**")
	known.Item.Value = json.RawMessage(`"a"`)
	elsewhere := itemWriter("elsewhere", "out.md")
	elsewhere.Cwd = "/w/{{item}}"
	output := itemWriter("output", "doc/x")
	output.Outputs = []spec.Output{{Path: "src/{{item}}.md"}}
	for name, c := range map[string]struct {
		a, b spec.Job
		both bool
	}{
		"one list":               {itemWriter("m", "src/{{item}}/**"), itemWriter("n", "src/{{item}}/**"), false},
		"one list, a fixed path": {itemWriter("m", "src/{{item}}/**", "go.mod"), itemWriter("n", "src/{{item}}/**", "go.mod"), true},
		"another job below":      {itemWriter("m", "src/{{item}}/**"), writer("n", []string{"src/deep/er/x.go"}), true},
		"another job beside":     {itemWriter("m", "src/pre-{{item}}/**"), writer("n", []string{"doc/**"}), false},
		"an item that is known":  {known, writer("n", []string{"src/b/**"}), false},
		"a folder of the item's": {elsewhere, writer("n", []string{"any/thing"}), true},
		"an output":              {output, writer("n", []string{"src/z.md"}), true},
	} {
		g, errs := New(&spec.Spec{Jobs: []spec.Job{c.a, c.b}})
		found, _ := g.Conflicts()
		if got := len(found) > 0; got != c.both || got != slices.Contains(rules(errs), "overlap") {
			t.Errorf("%s: conflicts %v, errors %v", name, found, errs)
		}
	}
}

func TestOverlapOfTwoJobs(t *testing.T) {
	a, b := writer("a", []string{"src/x/**"}), writer("b", []string{"src/x/y.go"})
	if why := Overlap(&a, &b); !strings.Contains(why, "src/x/y.go") {
		t.Errorf("said %q", why)
	}
	b.Overlap = "accept"
	if why := Overlap(&a, &b); why != "" {
		t.Errorf("accepted, and said %q", why)
	}
}
