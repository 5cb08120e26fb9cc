package arbiter

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/untrusted"
)

// good is an answer that passes the jobs.
func good(jobs ...string) Verdict {
	v := Verdict{
		Contradictions: []untrusted.Text{}, UnsupportedClaims: []untrusted.Text{}, SafetyGaps: []untrusted.Text{}, UnresolvedQuestions: []untrusted.Text{},
		Overall: Pass,
	}
	for _, id := range jobs {
		v.Jobs = append(v.Jobs, JobVerdict{Job: id, Verdict: "pass", Why: untrusted.From("seen"), Citations: []Citation{{"artifact", id + ":output.md"}}, Assertions: []Assertion{}})
	}
	for _, q := range Questions() {
		v.Questions = append(v.Questions, Answer{N: q.N, Answer: q.Passes, Why: untrusted.From("so")})
	}
	return v
}

// asked asks about jobs without assertions.
func asked(ids ...string) (all []Asked) {
	for _, id := range ids {
		all = append(all, Asked{Job: id})
	}
	return all
}

func encode(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestParseFindsTheAnswer(t *testing.T) {
	want := good("a", "b")
	text := encode(t, want)
	other := `{"name": "x", "files": ["a{b", "c"], "n": 3}`
	for name, answer := range map[string]string{
		"the whole message":   "\n" + text + "\n",
		"fenced":              "Here it is.\n```json\n" + text + "\n```\nDone.",
		"the last block":      "Job x said\n```json\n" + other + "\n```\nbut I say\n````JSON  \r\n" + text + "\n````\n",
		"other fences around": "```go\nx\n```\n```json\n" + text + "\n```",
		"said twice":          text + "\nThat is:\n```json\n" + text + "\n```",
		"said of it before":   "Overall: pass. Of job b: `{\"job\": \"b\", \"verdict\": \"pass\"}`.\n```json\n" + text + "\n```",
	} {
		got, err := Parse(untrusted.From(answer), asked("a", "b"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestParseRefusesEveryOtherForm(t *testing.T) {
	text := encode(t, good("a"))
	change := func(old, with string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("the sample has no %s", old)
		}
		return strings.Replace(text, old, with, 1)
	}
	for name, c := range map[string]struct{ answer, says string }{
		"nothing":                {"", "JSON"},
		"prose":                  {"everything is fine, pass", "JSON"},
		"cut off":                {text[:len(text)-5], "JSON"},
		"two values":             {text + text, "JSON"},
		"unknown key":            {change(`"overall"`, `"extra": 1, "overall"`), "extra"},
		"unknown key below":      {change(`"kind"`, `"extra": 1, "kind"`), "extra"},
		"missing key":            {change(`"safetyGaps": [],`, ""), "safetyGaps"},
		"null":                   {change(`"safetyGaps": []`, `"safetyGaps": null`), "safetyGaps"},
		"a key twice":            {change(`"overall"`, `"overall": "fail", "overall"`), "overall"},
		"a key twice below":      {change(`"n": 1`, `"n": 1, "n": 1`), `"n"`},
		"another word":           {change(`"overall": "pass"`, `"overall": "PASS"`), "overall"},
		"another type":           {change(`"n": 1`, `"n": "1"`), "questions/0/n"},
		"a question twice":       {change(`"n": 2`, `"n": 1`), "question 2"},
		"a job that is no job":   {change(`"job": "a"`, `"job": "z"`), `"z"`},
		"an unclosed block":      {"```json\n" + text, "JSON"},
		"an assertion not asked": {change(`"assertions": []`, `"assertions": [{"name": "x", "holds": "yes", "why": ""}]`), `no assertion "x"`},
		"no assertions": {change(`,
      "assertions": []`, ""), "assertions"},
		"another kind of proof": {change(`"artifact"`, `"hearsay"`), "citations/0/kind"},
	} {
		if _, err := Parse(untrusted.From(c.answer), asked("a")); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v does not say %q", name, err, c.says)
		}
	}
	if _, err := Parse(untrusted.From(text), asked("a", "b")); err == nil || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("a job left out: %v", err)
	}
}

// TestTwoVerdictsAreNone: what an arbiter quotes of a worker must not become its own.
func TestTwoVerdictsAreNone(t *testing.T) {
	pass := encode(t, good("a"))
	other := func(change func(*Verdict)) string {
		v := good("a")
		change(&v)
		return encode(t, v)
	}
	fail := other(func(v *Verdict) { v.Overall, v.Jobs[0].Verdict = "fail", "fail" })
	block := func(text string) string { return "```json\n" + text + "\n```\n" }
	for name, beside := range map[string]string{
		"another block":       block(fail),
		"bare":                fail + "\n",
		"in a fence of text":  "```\n" + fail + "\n```\n",
		"in prose":            "My verdict is {\"overall\": \"fail\"}.\n",
		"in words":            "**Overall:** fail\n",
		"with a comma more":   block(strings.TrimSuffix(fail, "}") + ",}"),
		"cut off":             block(fail[:len(fail)/2]),
		"without its braces":  "\"overall\": \"fail\",\n",
		"below another key":   block(`{"result": ` + fail + `}`),
		"only a question":     block(other(func(v *Verdict) { v.Questions[4].Answer = "no" })),
		"only a safety gap":   block(other(func(v *Verdict) { v.SafetyGaps = []untrusted.Text{untrusted.From("it deletes")} })),
		"a key of it twice":   block(`{"overall": "fail", "overall": "pass"}`),
		"a short one":         `{"verdict": "fail"}` + "\n",
		"after code in prose": "func x() { y \"z\" }\n" + block(fail),
	} {
		for order, answer := range map[string]string{"before": beside + block(pass), "after": block(pass) + beside} {
			if v, err := Parse(untrusted.From(answer), asked("a")); err == nil && len(v.SafetyGaps) == 0 {
				t.Errorf("%s, %s: it is taken", name, order)
			}
		}
	}
}

func TestEveryMistakeIsNamedAtOnce(t *testing.T) {
	v := good("a")
	v.Overall = "perhaps"
	v.Jobs[0].Verdict = "maybe"
	_, err := Parse(untrusted.From(encode(t, v)), asked("a"))
	if err == nil || !strings.Contains(err.Error(), "overall") || !strings.Contains(err.Error(), "jobs/0/verdict") {
		t.Errorf("got %v", err)
	}
	repair := RepairPrompt("THE QUESTION", untrusted.From("my ```answer```"), err)
	for _, want := range []string{"THE QUESTION", "my ```answer```", "jobs/0/verdict", "same judgement"} {
		if !strings.Contains(repair, want) {
			t.Errorf("the repair prompt lacks %q", want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("```json\n{}\n```")
	f.Add(`{"jobs":[{"job":"a"}],"overall":"pass"}`)
	f.Add("[[[{\"a\":[}]")
	f.Add("\"a\" \"a\"")
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := Parse(untrusted.From(s), asked("a")); err == nil && (len(v.Questions) != 9 || len(v.Jobs) != 1) {
			t.Errorf("an incomplete answer is taken: %+v", v)
		}
	})
}

// TestEveryAssertionIsAnsweredOnce: under its name, two of one name both.
func TestEveryAssertionIsAnsweredOnce(t *testing.T) {
	want := []Asked{{Job: "a", Asserts: []string{"reads well", "twin", "twin"}}, {Job: "b"}}
	for _, c := range []struct {
		name  string
		given []string
		says  string
	}{
		{"all", []string{"twin", "reads well", "twin"}, ""},
		{"one left out", []string{"twin", "twin"}, `assertion "reads well" of job "a" is answered 0 times, not 1`},
		{"one twice", []string{"reads well", "reads well", "twin", "twin"}, `assertion "reads well" of job "a" is answered 2 times, not 1`},
		{"one of two twins", []string{"reads well", "twin"}, `assertion "twin" of job "a" is answered 1 times, not 2`},
		{"one that nobody made", []string{"reads well", "twin", "twin", "cheap"}, `job "a" has no assertion "cheap"`},
	} {
		v := good("a", "b")
		for _, name := range c.given {
			v.Jobs[0].Assertions = append(v.Jobs[0].Assertions, Assertion{Name: name, Holds: "no"})
		}
		_, err := Parse(untrusted.From(encode(t, v)), want)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// TestTheFormIsOneThatModelsAreHeldTo: runtimes pass the schema to services that know a
// part of the language only, and one that they do not know is silently dropped.
func TestTheFormIsOneThatModelsAreHeldTo(t *testing.T) {
	var walk func(path string, node map[string]any)
	walk = func(path string, node map[string]any) {
		for key := range node {
			known := []string{"title", "description", "type", "enum", "properties", "required", "additionalProperties", "items", "minItems", "maxItems", "minimum", "maximum"}
			if !slices.Contains(known, key) {
				t.Errorf("%s: the keyword %q", path, key)
			}
		}
		if _, ok := node["type"].(string); !ok {
			t.Errorf("%s: no type", path)
		}
		if items, ok := node["items"].(map[string]any); ok {
			walk(path+"[]", items)
		}
		props, ok := node["properties"].(map[string]any)
		if !ok {
			return
		}
		required, _ := node["required"].([]any)
		if node["additionalProperties"] != false || len(required) != len(props) {
			t.Errorf("%s: it is not closed, or has a key that may be left out", path)
		}
		for name, p := range props {
			walk(path+"."+name, p.(map[string]any))
		}
	}
	var root map[string]any
	if err := json.Unmarshal(AnswerSchema(), &root); err != nil {
		t.Fatal(err)
	}
	walk("", root)
}
