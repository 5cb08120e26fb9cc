package arbiter

import (
	"slices"
	"testing"

	"orchestrate/internal/untrusted"
)

func TestARepairedAnswerIsHeldToTheFirst(t *testing.T) {
	pass := Verdict{Overall: "pass", Jobs: []JobVerdict{{Job: "a", Verdict: "pass"}, {Job: "b", Verdict: "fail"}}}
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
	} {
		if got := Softened(untrusted.From(c.first), pass); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
