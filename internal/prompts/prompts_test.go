package prompts_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/prompts"
)

func TestEveryTemplateIsListedAndHasAText(t *testing.T) {
	found, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, tmpl := range prompts.All() {
		listed = append(listed, tmpl.Name+".md")
		text, err := prompts.Text(tmpl.Name)
		if err != nil || tmpl.Use == "" || strings.Contains(tmpl.Use, "\n") {
			t.Errorf("%s: %v, %q", tmpl.Name, err, tmpl.Use)
		}
		if strings.Count(text, "{{") != len(placesOf(text)) {
			t.Errorf("%s has something between {{ }} that is no variable", tmpl.Name)
		}
	}
	slices.Sort(listed)
	if !slices.Equal(found, listed) {
		t.Errorf("listed are %q, there are %q", listed, found)
	}
}

// placesOf are all places of variables in a text.
func placesOf(text string) (all []string) {
	for _, name := range prompts.Variables(text) {
		for range strings.Count(text, "{{"+name+"}}") {
			all = append(all, name)
		}
	}
	return all
}

func TestAnUnknownTemplateSaysWhatThereIs(t *testing.T) {
	for name, says := range map[string]string{
		"verifer": "did you mean verifier?", "x/../worker": "there are planner, worker, verifier, fix-worker, synthesis", "": "there are planner",
	} {
		if text, err := prompts.Text(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %q, %v", name, text, err)
		}
	}
}

func TestFillingIsStrictAndValuesAreData(t *testing.T) {
	got, err := prompts.Fill(prompts.FixWorker, map[string]string{"findings": "{{findings}} and $1 and {{else}}"})
	if err != nil || strings.Count(got, "{{findings}} and $1 and {{else}}\n") != 1 || strings.Count(got, "{{") != 2 {
		t.Errorf("%v:\n%s", err, got)
	}
	for _, values := range []map[string]string{nil, {"finding": "x"}, {"findings": "x", "more": "y"}} {
		if _, err := prompts.Fill(prompts.FixWorker, values); err == nil || !strings.Contains(err.Error(), `has ["findings"]`) {
			t.Errorf("with %q: %v", values, err)
		}
	}
	if got, err := prompts.Fill(prompts.Synthesis, nil); err != nil || strings.Contains(got, "{{") {
		t.Errorf("a synthesis needs no values: %v", err)
	}
}

func TestTheAnswerFormIsThatOfTheVerifier(t *testing.T) {
	for _, tc := range []struct{ field, accept, says string }{
		{"verdict", "pass", "Its `verdict` is \"pass\" if the work can be accepted as it stands, and \"fail\" if not."},
		{"$.result.ok", "Fail", "Its `$.result.ok` is \"Fail\" if the work can be accepted as it stands, and \"pass\" if not."},
	} {
		got, err := prompts.AnswerForm(tc.field, tc.accept)
		if err != nil || !strings.Contains(got, tc.says) || !strings.HasPrefix(got, "## The form of your answer\n") || strings.Contains(got, "{{") {
			t.Errorf("%v:\n%s", err, got)
		}
	}
	text, err := prompts.Text(prompts.Verifier)
	if err != nil || !slices.Equal(prompts.Variables(text), []string{"task", "criteria", "field", "accept", "reject"}) {
		t.Errorf("%v: variables %q", err, prompts.Variables(text))
	}
}
