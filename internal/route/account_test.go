package route

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
)

func told(account []ledger.Criterion) (lines []string) {
	for _, c := range account {
		lines = append(lines, c.Criterion+": "+c.Finding)
	}
	return lines
}

// TestEveryCandidateHasItsAccount: criterion by criterion, in the contract's order,
// down to the one that dropped it.
func TestEveryCandidateHasItsAccount(t *testing.T) {
	asked := boxed
	asked.Evidence = make([]runtime.Evidence, 12)
	weak := flat(editor)
	weak.Runtime, weak.Controls = "weak", slices.Clone(open.Controls)
	key := agent("key", runtime.ControlReadOnly)
	key.State, key.Limits = runtime.StateConstrained, []string{"sign-in by a key that nobody can test"}
	r, _ := Choose(input(func(in *Input) {
		in.Profiles, in.Failures = profiles(asked, key, weak, signed), map[string]int{"key": 2}
		in.Tiers.Capability, in.Job.Effort = policy.C2, "low"
	}))
	got := map[string][]string{}
	for _, c := range r.Candidates {
		got[c.Runtime] = told(c.Account)
	}
	const live = "C3 for a floor of C2 (live model list: big has a reasoning-depth control (low, high))"
	want := map[string][]string{
		"boxed": {
			"live: available, 12 answers of the program", "pins: effort low", "floor: " + live,
			"controls: cwd, timeout, capture, read-only, fingerprint",
			"task fit: any that meets the floor of C2 fits", "control strength: read-only and its own sandbox", "evidence quality: proven",
			"failures in this run: 0", "cost and latency: not compared: there is no live evidence of either",
		},
		"key": {
			"live: constrained", "pins: effort low", "floor: " + live,
			"controls: cwd, timeout, capture, read-only, fingerprint; sign-in by a key that nobody can test",
			"task fit: any that meets the floor of C2 fits", "control strength: read-only",
			"evidence quality: sign-in by a key that nobody can test",
			"failures in this run: 2", "cost and latency: not compared: there is no live evidence of either",
		},
		"out": {"live: dropped: unavailable: signed out"},
		"weak": {
			"live: available", "pins: effort low",
			"floor: dropped: its capability is C1 (nothing more was shown), the task scout needs C2",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestCostIsNotComparedForJudgment: from C3 up it could not count even if it were
// known.
func TestCostIsNotComparedForJudgment(t *testing.T) {
	r, _ := Choose(input(func(in *Input) { in.Tiers.Capability = policy.C3 }))
	for _, c := range r.Candidates {
		if strings.Contains(strings.Join(told(c.Account), "\n"), "cost") {
			t.Errorf("%s: %q", c.Runtime, told(c.Account))
		}
	}
}

// TestRanking: each criterion decides where all before it are equal, whatever those
// after it say.
func TestRanking(t *testing.T) {
	// "a" is better by each later criterion, so "b" can only come first by the one
	// that is tested.
	unproven := func(p runtime.Profile) runtime.Profile { p.State = runtime.StateConstrained; return p }
	a, b := rename(boxed, "a"), rename(boxed, "b")
	aSame, bSame := a, b
	aSame.Family, bSame.Family = "one", "two"
	loose := rename(agent("x", runtime.ControlReadOnly), "a")
	for _, c := range []struct {
		by     string
		a, b   runtime.Profile
		change func(*Input)
	}{
		{critFit, aSame, unproven(rename(agentOf("two", runtime.ControlReadOnly), "b")), func(in *Input) {
			in.Job.Task, in.Tiers.Capability = "review", policy.C3
			in.Producers, in.Failures = []Producer{{Job: "p", Family: "one"}}, map[string]int{"b": 3}
		}},
		{critFit, unlisting(a), unproven(b), func(in *Input) { in.Job.Model = "small" }},
		{critStrength, loose, unproven(b), func(in *Input) { in.Failures = map[string]int{"b": 3} }},
		{critEvidence, unproven(a), b, func(in *Input) { in.Failures = map[string]int{"b": 3} }},
		{critFailures, a, b, func(in *Input) { in.Failures = map[string]int{"a": 1} }},
	} {
		r, block := Choose(input(func(in *Input) { in.Profiles = profiles(c.a, c.b); c.change(in) }))
		if block != nil || r.Runtime != "b" {
			t.Errorf("%s: %s, %+v", c.by, r.Runtime, block)
			continue
		}
		if last := r.Candidates[1].Reasons; last[len(last)-1] != "qualified, but comes after b by "+c.by {
			t.Errorf("%s: %q", c.by, last)
		}
	}
	r, _ := Choose(input(func(in *Input) { in.Profiles = profiles(b, a) }))
	if r.Runtime != "a" || !slices.Contains(r.Candidates[1].Reasons, "qualified, but comes after a by name") {
		t.Errorf("a tie: %+v", r.Candidates)
	}
}

func agentOf(family string, controls ...runtime.ControlName) runtime.Profile {
	p := agent("b", controls...)
	p.Family = family
	return p
}

// unlisting has a list that is not complete and does not name the small model.
func unlisting(p runtime.Profile) runtime.Profile {
	p.Models, p.ModelsPartial = p.Models[:1], true
	return p
}

func TestNearestNames(t *testing.T) {
	many := make([]runtime.Model, 0, 303)
	for i := range 300 {
		many = append(many, runtime.Model{ID: fmt.Sprintf("vendor/thing-%d", i)})
	}
	many = append(many, runtime.Model{ID: "maker/sonata-5"}, runtime.Model{ID: "maker/sonata-5-mini"}, runtime.Model{ID: "maker/opera-4"})
	p := boxed
	p.Models, p.DefaultModel = many, ""
	_, block := Choose(input(func(in *Input) { in.Profiles, in.Job.Runtime, in.Job.Model = profiles(p), "boxed", "Sonnata-5" }))
	if block == nil || !strings.Contains(block.NextStep, "of its 303 models the nearest are maker/sonata-5, maker/sonata-5-mini, ") ||
		strings.Count(block.NextStep, "/") != mostNamed {
		t.Errorf("%+v", block)
	}
}

func TestInternalAgents(t *testing.T) {
	for name, c := range map[string]struct {
		change    func(*Input)
		runtime   string
		candidate bool
		detail    string
	}{
		"never by policy":                     {func(*Input) {}, "boxed", false, ""},
		"considered when that is asked for":   {func(in *Input) { in.Internal = true }, "boxed", true, ""},
		"and nothing else is there":           {func(in *Input) { in.Internal, in.Profiles = true, nil }, "", true, "no runtime of this name"},
		"pinned":                              {func(in *Input) { in.Job.Runtime = "internal" }, "", true, "no runtime of this name"},
		"pinned, and asked for":               {func(in *Input) { in.Job.Runtime, in.Internal = "internal", true }, "", true, "no runtime of this name"},
		"not for a program":                   {func(in *Input) { runs(in); in.Internal = true }, "exec", false, ""},
		"not in the place of a pinned agent":  {func(in *Input) { in.Job.Runtime, in.Internal = "editor", true }, "editor", false, ""},
		"not as the next best after a failed": {func(in *Input) { in.Internal = true; failedOver(in) }, "boxed", false, ""},
	} {
		r, block := Choose(input(c.change))
		has := slices.ContainsFunc(r.Candidates, func(c ledger.Candidate) bool { return c.Runtime == "internal" })
		if r.Runtime != c.runtime || has != c.candidate || (block != nil) != (c.detail != "") || block != nil && !strings.Contains(block.Detail, c.detail) {
			t.Errorf("%s: %q, %+v, %+v", name, r.Runtime, block, r.Candidates)
		}
	}
}

func failedOver(in *Input) {
	in.Job.Runtime, in.Job.Fallbacks = "editor", fallbacks("")
	in.Tried = []Tried{{Runtime: "editor", Reason: runtime.ReasonQuota}}
}
