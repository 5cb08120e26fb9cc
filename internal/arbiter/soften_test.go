package arbiter

import (
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/untrusted"
)

func TestARepairedAnswerIsHeldToTheFirst(t *testing.T) {
	second := Verdict{Overall: "pass", Jobs: []JobVerdict{{Job: "a", Verdict: "pass"}, {Job: "b", Verdict: "fail"}}}
	for _, c := range []struct {
		name, first string
		want        []string
	}{
		{"the same judgement", `{"overall":"pass","jobs":[{"job":"a","verdict":"pass"}]}`, nil},
		{"it was a fail", `{"overall":"fail","jobs":[{"job":"a","verdict":"unsure"},{"job":"b","verdict":"fail"}]}`, []string{
			"overall was fail and became pass", "job a was unsure and became pass",
		}},
		{"only keys are missing", "```json\n{\"jobs\":[]}\n```", nil},
		{"it was no JSON at all", "All is well.", nil},
		{"said in words only", "Overall: fail", []string{"overall was fail and became pass"}},
		{"another word", `{"overall":"PASS","jobs":[{"job":"a","verdict":"passed"}]}`, nil},
		{"a word between", `{"overall":"pass with concerns"}`, []string{"overall was pass with concerns and became pass"}},
		{"a job by another name", `{"jobs":[{"job":"A","verdict":"unsure"}]}`, nil}, // b still fails
		{"an assertion that nobody made", `{"jobs":[{"job":"a","assertions":[{"name":"x","holds":"no"}]}]}`, []string{`the assertion "x" of job a was no and became nothing`}},
	} {
		if got := Softened(untrusted.From(c.first), second, everything{}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// full is an answer with everything in it, the worst that there is.
func full() Verdict {
	v := good("a", "b")
	v.Overall, v.Jobs[0].Verdict, v.Jobs[1].Verdict = Fail, "fail", "unsure"
	v.Jobs[0].Assertions = []Assertion{{Name: "it is safe", Holds: "no", Why: untrusted.From(`it "deletes", and {breaks}`)}, {Name: "it reads well", Holds: "unsure"}}
	for i, q := range Questions() {
		v.Questions[i].Answer = map[string]string{"yes": "no", "no": "yes"}[q.Passes]
	}
	text := func(s string) []untrusted.Text {
		return []untrusted.Text{untrusted.From(s), untrusted.From("more: " + s)}
	}
	v.Contradictions, v.UnsupportedClaims, v.SafetyGaps, v.UnresolvedQuestions = text("a says so"), text("nobody saw it"), text("it deletes"), text("who?")
	v.Jobs[1].Citations = append(v.Jobs[1].Citations, Citation{"file", "b:gone.go:1"})
	return v
}

// kinder are all the ways in which an answer can be more favourable than full.
var kinder = map[string]func(*Verdict){
	"overall open":           func(v *Verdict) { v.Overall = Blocked },
	"overall":                func(v *Verdict) { v.Overall = Pass },
	"a job":                  func(v *Verdict) { v.Jobs[0].Verdict = "pass" },
	"a job left open":        func(v *Verdict) { v.Jobs[0].Verdict = "unsure" },
	"an open job":            func(v *Verdict) { v.Jobs[1].Verdict = "pass" },
	"an assertion":           func(v *Verdict) { v.Jobs[0].Assertions[0].Holds = "yes" },
	"an assertion left open": func(v *Verdict) { v.Jobs[0].Assertions[0].Holds = "unsure" },
	"an open assertion":      func(v *Verdict) { v.Jobs[0].Assertions[1].Holds = "yes" },
	"a question":             func(v *Verdict) { v.Questions[4].Answer = "yes" },
	"a question for no":      func(v *Verdict) { v.Questions[1].Answer = "no" },
	"a question left open":   func(v *Verdict) { v.Questions[8].Answer = "unsure" },
	"a contradiction":        func(v *Verdict) { v.Contradictions = v.Contradictions[:1] },
	"an unsupported claim":   func(v *Verdict) { v.UnsupportedClaims = nil },
	"a safety gap":           func(v *Verdict) { v.SafetyGaps = v.SafetyGaps[1:] },
	"an unresolved question": func(v *Verdict) { v.UnresolvedQuestions = v.UnresolvedQuestions[:0] },
	"a citation":             func(v *Verdict) { v.Jobs[1].Citations = v.Jobs[1].Citations[:1] },
}

// TestNothingBecomesKinderInARepair: whatever was wrong with the form of the first answer.
func TestNothingBecomesKinderInARepair(t *testing.T) {
	text := encode(t, full())
	for form, first := range map[string]string{
		"a key too many":    strings.Replace(text, "{", `{"extra": 1,`, 1),
		"a comma too many":  strings.ReplaceAll(text, "}", ",}"),
		"no commas":         strings.ReplaceAll(text, ",\n", "\n"),
		"in a fence":        "The work is wrong, so I say so:\n```json\n" + text + "\n```\nThat is all.",
		"an open fence":     "func x() { y := \"z\" }\n```json\n" + text,
		"no end":            strings.TrimRight(text, "}\n"),
		"a list unclosed":   strings.Replace(text, "\n  ],\n  \"questions\"", "\n  \"questions\"", 1),
		"bare keys":         strings.NewReplacer(`"overall":`, "overall:", `"verdict":`, "verdict:", `"job":`, "job:", `"holds":`, "holds:", `"answer":`, "answer:", `"n":`, "n:", `"name":`, "name:").Replace(text),
		"quotes in a text":  strings.ReplaceAll(text, `\"`, `"`),
		"keys in snakes":    strings.NewReplacer("unsupportedClaims", "unsupported_claims", "safetyGaps", "safety-gaps", "unresolvedQuestions", "Unresolved Questions").Replace(text),
		"below another key": `{"result": ` + text + `}`,
		"numbers as text":   strings.NewReplacer(`"n": 5`, `"n": "5"`, `"n": 2`, `"n": "Q2"`).Replace(text),
		"quoted twice":      text + "\n" + encode(t, good("a", "b")),
	} {
		if got := Softened(untrusted.From(first), full(), only{"a:output.md", "b:output.md"}); len(got) > 0 {
			t.Errorf("%s: the same judgement is held to be kinder: %q", form, got)
		}
		for what, change := range kinder {
			second := full()
			change(&second)
			if got := Softened(untrusted.From(first), second, only{"a:output.md", "b:output.md"}); len(got) != 1 {
				t.Errorf("%s: %s became kinder, and what is said is %q", form, what, got)
			}
		}
	}
}

// only is a Reader of the artifacts that it names.
type only []string

func (only) Line(string, string, int) (string, bool) { return "", false }
func (o only) Artifact(job, path string) bool        { return slices.Contains(o, job+":"+path) }
func (only) Check(string, string) bool               { return false }
func (only) Commit(string, string) bool              { return false }
func (only) Laid(string) (folder, job, file string)  { return "", "", "" }
