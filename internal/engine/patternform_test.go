package engine

import (
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/graph"
	"orchestrate/internal/spec"
)

// TestWhoeverIsReadIsToldTheForm: the person's own words stay as they are, and the form comes
// last, in the worker form as in a spec.
func TestWhoeverIsReadIsToldTheForm(t *testing.T) {
	verdict := &spec.Verdict{Field: "ruling", Accept: "yes"}
	search := &spec.Round{Rule: spec.RuleNotDry, Dry: &spec.Dry{Key: "$.found[*].id"}}
	for name, c := range map[string]struct {
		job   spec.Job
		lists []string
		says  []string
	}{
		"a judge":               {spec.Job{Verdict: verdict}, nil, []string{"one JSON object", "`ruling` is \"yes\""}},
		"a round of a search":   {spec.Job{Round: search}, nil, []string{"one JSON document", "tells your findings apart is read at `$.found[*].id`"}},
		"a list":                {spec.Job{}, []string{"$.a"}, []string{"one JSON document", "whose items others then work on is read at `$.a`"}},
		"lists":                 {spec.Job{}, []string{"$.a", "$.b"}, []string{"are read at `$.a` and `$.b`"}},
		"a list of a judge":     {spec.Job{Verdict: verdict}, []string{"$.findings"}, []string{"`ruling` is \"yes\"", "Of the same JSON", "read at `$.findings`"}},
		"a list of a search":    {spec.Job{Round: search}, []string{"$.found"}, []string{"read at `$.found[*].id`", "Of the same JSON", "read at `$.found`"}},
		"one whom nobody reads": {spec.Job{}, nil, nil},
	} {
		for _, worker := range []*spec.Worker{nil, {AsIs: true}, {Command: "my-agent"}} {
			j := c.job
			j.Prompt, j.ExpectedOutput, j.Worker = "  Look.\n\n", "An answer.", worker
			text := assemble(&j, nil, nil, placing{Lists: c.lists})
			if n := strings.Count(text, "## The form of your answer\n\nYour final message is one JSON "); n != min(len(c.says), 1) {
				t.Errorf("%s, %+v: the form is said %d times in\n%s", name, worker, n, text)
			}
			if inOrder(t, text, append([]string{"Look.\n"}, c.says...)...); asIs(&j) && !strings.HasPrefix(text, j.Prompt) {
				t.Errorf("%s, %+v: the prompt does not begin as it was given: %q", name, worker, text)
			}
		}
	}
}

// repaired is a plan of work x that c verifies, from whose answers lists are taken.
func repaired(t *testing.T) *Plan {
	t.Helper()
	verdict := &spec.Verdict{Field: "verdict", Accept: "pass"}
	work := spec.Gather{Kind: spec.PatternRepair, Members: []string{"x-1", "c-1", "x-2", "c-2"}, Work: []string{"x-1", "x-2"}, Verifies: []string{"c-1", "c-2"}, Verdict: verdict}
	of := func(id string, n int) *spec.Part { return &spec.Part{Kind: spec.PatternRepair, Of: id, Number: n} }
	from := func(id, path string) *spec.Item {
		return &spec.Item{Of: "each-" + id, Number: 1, From: []string{id}, Path: path, Max: 1}
	}
	p := &Plan{Spec: &spec.Spec{Jobs: []spec.Job{
		{ID: "list"},
		{ID: "x-1", Effect: "scoped-write", Part: of("x", 1), DependsOn: []string{"list"}},
		{ID: "c-1", Part: of("c", 1), Verdict: verdict, DependsOn: []string{"x-1"}},
		{ID: "x-2", Effect: "scoped-write", Part: of("x", 2), DependsOn: []string{"x-1", "c-1"}, Continue: "x-1", Round: &spec.Round{Rule: spec.RuleFailed, Of: []string{"c-1"}}},
		{ID: "c-2", Part: of("c", 2), Verdict: verdict, DependsOn: []string{"x-2"}, Round: &spec.Round{Rule: spec.RuleMended, Of: []string{"x-2"}}},
		{ID: "x", Part: of("x", 0), Gather: &work, DependsOn: work.Members, AfterAll: true},
		{ID: "c", Part: of("c", 0), Gather: &work, DependsOn: work.Members, AfterAll: true},
		{ID: "votes", Gather: &spec.Gather{Kind: spec.PatternVotes}},
		{ID: "last", DependsOn: []string{"x"}},
		{ID: "each-list", Item: from("list", "$.a"), DependsOn: []string{"list"}},
		{ID: "each-x", Item: from("x", "$.b"), DependsOn: []string{"x"}},
		{ID: "each-c", Item: from("c", "$.c"), DependsOn: []string{"c"}},
		{ID: "each-votes", Item: from("votes", "$.d"), DependsOn: []string{"votes"}},
	}}, index: map[string]int{}}
	for i := range p.Spec.Jobs {
		if j := &p.Spec.Jobs[i]; j.Effect == "" {
			j.Effect = "observe"
		}
		p.index[p.Spec.Jobs[i].ID] = i
		p.Jobs = append(p.Jobs, Planned{Job: &p.Spec.Jobs[i]})
	}
	var errs []spec.Diagnostic
	if p.Graph, errs = graph.New(p.Spec); len(errs) > 0 {
		t.Fatal(errs)
	}
	return p
}

// TestListsAreAskedOfWhoAnswers: of a repair that is whoever works or verifies; an answer
// that the engine makes is asked of nobody.
func TestListsAreAskedOfWhoAnswers(t *testing.T) {
	p := repaired(t)
	p.findLists()
	want := map[string]string{"list": "$.a", "x-1": "$.b", "x-2": "$.b", "c-1": "$.c", "c-2": "$.c"}
	for id, path := range want {
		if !slices.Equal(p.lists[id], []string{path}) {
			t.Errorf("%s is asked for lists at %q, not %s", id, p.lists[id], path)
		}
	}
	if len(p.lists) != len(want) {
		t.Errorf("lists are asked of %v", p.lists)
	}
}

// TestWhoVerifiedIsNoProducer: else no later verification could be independent where there
// are two families. The arbiter, who judges the verifications too, still counts them.
func TestWhoVerifiedIsNoProducer(t *testing.T) {
	p := repaired(t)
	for judge, want := range map[string]string{"c-1": "x-1 list", "c-2": "x-2 x-1 list", "last": "x x-1 x-2 list"} {
		pl, _ := p.Planned(judge)
		if got := strings.Join(p.producing(pl.Job.DependsOn), " "); got != want {
			t.Errorf("what %s judges was done by %q, want %q", judge, got, want)
		}
	}
	if got := p.producing([]string{"x-1", "c-1", "x-2", "c-2"}); !slices.Contains(got, "c-1") || !slices.Contains(got, "c-2") {
		t.Errorf("of verifications that are judged themselves: %q", got)
	}
}

// TestALaterVerificationGetsAllRoundsOfWork: in their order, each with what it is on top of.
func TestALaterVerificationGetsAllRoundsOfWork(t *testing.T) {
	p := repaired(t)
	isolated := func(id string) bool { return strings.HasPrefix(id, "x-") }
	here := "this working directory starts with it applied"
	for id, want := range map[string][]string{
		"c-1":  {"x-1: patch (" + here + ")"},
		"c-2":  {"x-1: patch (" + here + ")", "x-2: patch (on top of what job x-1 left; " + here + ")"},
		"last": {"x-1: patch (" + here + ")", "x-2: patch (on top of what job x-1 left; " + here + ")"},
		"x-2":  nil,
	} {
		pl, _ := p.Planned(id)
		var got []string
		for _, w := range p.wanted(pl.Job, isolated) {
			if w.kind == thePatch {
				got = append(got, w.from+": "+label(w))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s gets %q, want %q", id, got, want)
		}
	}
}

// TestAPlanShowsWhereFindingsComeIn: of a round of mending, whose prompt is made of them.
func TestAPlanShowsWhereFindingsComeIn(t *testing.T) {
	p := repaired(t)
	pl, _ := p.Planned("x-2")
	inOrder(t, mending(pl.Job), "Your work was checked", "\n(what c-1 finds)\n\n", "Mend each finding that holds")
	if pl, _ := p.Planned("x-1"); mending(pl.Job) != "" {
		t.Error("the first round mends nothing")
	}
}
