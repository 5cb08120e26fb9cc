package script

import (
	"strings"

	"orchestrate/internal/runtime/standin"
)

// questions is how many the arbiter has to answer.
const questions = 9

// passing is a verdict, in the arbiter's form, that passes the jobs of the evidence
// or, if judged names some, only those.
func passing(prompt string, judged []string) map[string]any {
	offered := citable(prompt)
	if len(judged) == 0 {
		judged = offered.ids
	}
	jobs := make([]any, 0, len(judged))
	for _, j := range judged {
		id, cite, given := strings.Cut(j, "=")
		if !given {
			cite = offered.cite[id]
		}
		citations := []any{}
		if kind, ref, ok := strings.Cut(cite, ":"); ok {
			citations = append(citations, map[string]any{"kind": kind, "ref": strings.TrimSpace(ref)})
		}
		jobs = append(jobs, map[string]any{
			"job": id, "verdict": "pass", "why": standin.Mark + ": nothing was judged", "citations": citations,
		})
	}
	answers := make([]any, 0, questions)
	for n := 1; n <= questions; n++ {
		answers = append(answers, map[string]any{"n": n, "answer": passingAnswer(n), "why": standin.Mark})
	}
	return map[string]any{
		"jobs": jobs, "questions": answers, "contradictions": []any{}, "unsupportedClaims": []any{},
		"safetyGaps": []any{}, "unresolvedQuestions": []any{}, "overall": "pass",
	}
}

// passingAnswer: questions 2 and 3 ask for something bad, the others for something good.
func passingAnswer(n int) string {
	if n == 2 || n == 3 {
		return "no"
	}
	return "yes"
}

// offer is what the evidence lets the arbiter cite.
type offer struct {
	ids  []string          // of the jobs, in their order
	cite map[string]string // by id, the first thing that may be cited: "kind: ref"
}

// citable reads the evidence as it stands in the prompt: a heading per job and a
// list of what may be cited. Fenced text is the jobs' own and is passed over.
func citable(prompt string) offer {
	o := offer{cite: map[string]string{}}
	fence, listed := 0, false
	for line := range strings.SplitSeq(prompt, "\n") {
		ticks := len(line) - len(strings.TrimLeft(line, "`"))
		switch {
		case fence > 0:
			if ticks >= fence && strings.TrimLeft(line, "`") == "" {
				fence = 0
			}
		case ticks >= 3:
			fence = ticks
		case strings.HasPrefix(line, "## Job "):
			o.ids, listed = append(o.ids, strings.TrimPrefix(line, "## Job ")), false
		case line == "May be cited:":
			listed = len(o.ids) > 0
		case listed && strings.HasPrefix(line, "- "):
			if id := o.ids[len(o.ids)-1]; o.cite[id] == "" {
				o.cite[id] = strings.TrimPrefix(line, "- ")
			}
		}
	}
	return o
}
