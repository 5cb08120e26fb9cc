package policy

import (
	"strings"
	"testing"

	"orchestrate/internal/runtime"
)

func profile(controls ...runtime.ControlName) runtime.Profile {
	p := runtime.Profile{
		Runtime: "one", Kind: runtime.KindCLI, State: runtime.StateAvailable, DefaultModel: "big",
		Models: []runtime.Model{{ID: "big", Resolved: "big-9", Efforts: []string{"low", "high"}}, {ID: "small"}},
	}
	for _, c := range controls {
		p.Controls = append(p.Controls, runtime.Control{Name: c, Verified: true})
	}
	return p
}

func operator(t *testing.T, text string) Operator {
	t.Helper()
	op, err := ParseOperator("config.yaml", []byte(text), []string{"claude"}, "/home/me")
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func TestCapabilityByEvidence(t *testing.T) {
	const ruled = "runtimes: {one: {capability: C2, models: {small: {capability: C3}, big-9: {capability: C1}}}}"
	standin := runtime.Profile{Kind: runtime.KindStandin, Capability: "C3", CapabilitySource: "rehearsal"}
	for name, c := range map[string]struct {
		profile runtime.Profile
		model   string
		op      string
		want    Capability
		source  string
	}{
		"live list":               {profile(runtime.ControlEffort), "", "", C3, "live model list"},
		"live list, model":        {profile(runtime.ControlEffort, runtime.ControlEditsOnly), "small", "", C2, "live probe"},
		"no effort control":       {profile(runtime.ControlOSSandbox), "big", "", C2, "live probe"},
		"nothing shown":           {profile(), "", "", C1, "nothing more"},
		"operator, runtime":       {profile(runtime.ControlEffort), "other", ruled, C2, "operator's configuration, runtimes.one"},
		"operator, model":         {profile(), "small", ruled, C3, "operator's configuration, runtimes.one.models.small"},
		"operator, resolved name": {profile(runtime.ControlEffort), "", ruled, C1, "runtimes.one.models.big-9"},
		"exec":                    {runtime.Profile{Kind: runtime.KindExec, Capability: "C3"}, "", "", NoCapability, "plain program"},
		"stand-in":                {standin, "", "", C3, "rehearsal"},
	} {
		got, source := CapabilityOf(c.profile, c.model, operator(t, c.op))
		if got != c.want || !strings.Contains(source, c.source) {
			t.Errorf("%s: %q, %q", name, got, source)
		}
	}
}

func TestFamilyByEvidence(t *testing.T) {
	p := profile()
	if f, source := FamilyOf(p, "", Operator{}); f != "" || source != "unknown" {
		t.Errorf("nothing known: %q, %q", f, source)
	}
	p.Family, p.FamilySource = "Maker", "sign-in"
	if f, source := FamilyOf(p, "", Operator{}); f != "maker" || source != "sign-in" {
		t.Errorf("live: %q, %q", f, source)
	}
	op := operator(t, "runtimes: {one: {family: Other, models: {small: {family: third}}}}")
	if f, _ := FamilyOf(p, "", op); f != "other" {
		t.Errorf("operator: %q", f)
	}
	if f, _ := FamilyOf(p, "small", op); f != "third" {
		t.Errorf("operator, model: %q", f)
	}
}

// Who did the work is told by the model that answered, where that is another than the
// one that was to answer.
func TestFamilyThatAnswered(t *testing.T) {
	byModel := operator(t, "runtimes: {one: {models: {large: {family: first}, small: {family: third}}}}")
	live := []runtime.Model{{ID: "large", Default: true, Resolved: "large-4"}, {ID: "small"}}
	for name, c := range map[string]struct {
		model, observed, want string
		models                []runtime.Model
		maker                 string
	}{
		"nobody said who answered":        {"", "", "first", live, ""},
		"the one that was to":             {"large", "large-4", "first", live, ""},
		"another, of which it is known":   {"", "small", "third", live, ""},
		"another, of which nothing is":    {"", "tiny", "", live, ""},
		"another of the same maker":       {"", "tiny", "maker", live, "maker"},
		"nobody knew which was to answer": {"", "small", "third", nil, ""},
		"a pinned one, and another did":   {"small", "tiny", "", live, ""},
	} {
		p := profile()
		p.DefaultModel, p.Models, p.Family, p.FamilySource = "", c.models, c.maker, "sign-in"
		p = Judged(p, byModel)
		if c.maker != "" {
			p.Family, p.FamilySource = c.maker, "sign-in"
		}
		routed, _ := FamilyOf(p, c.model, byModel)
		if got := FamilyThatAnswered(p, c.model, routed, c.observed, byModel); got != c.want {
			t.Errorf("%s: %q instead of %q", name, got, c.want)
		}
	}
}

func TestPinHolds(t *testing.T) {
	live := []runtime.Model{
		{ID: "large", Resolved: "maker-large-4-20260101"}, {ID: "default", Resolved: "maker-large-4-20260101[1m]"}, {ID: "tiny"},
	}
	for _, c := range []struct {
		pin, observed string
		want          bool
	}{
		{"", "anything", true},
		{"large", "", true}, // it cannot be observed
		{"large", "large", true},
		{"large", "maker-large-4-20260101", true},
		{"large", "maker-large-4-20260101[1m]", true},
		{"default", "maker-large-4-20260101", true},
		{"maker-large-4-20260101", "large", true},
		{"large", "tiny", false},
		{"tiny", "maker-large-4-20260101", false},
		{"maker-large-4", "maker-large-4-20260101", false}, // the list does not say so
		{"maker-large-4-20260101", "maker-large-4-20260102", false},
		{"other", "other-20260101", false},
	} {
		if got := PinHolds(c.pin, c.observed, live); got != c.want {
			t.Errorf("PinHolds(%q, %q) = %v", c.pin, c.observed, got)
		}
	}
}
