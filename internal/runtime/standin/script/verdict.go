package script

import (
	"strings"

	"orchestrate/internal/runtime/standin"
)

// questions is how many the arbiter has to answer.
const questions = 9

// passing is a verdict, in the arbiter's form, that passes every judged job.
func passing(judged []string) map[string]any {
	jobs := make([]any, 0, len(judged))
	for _, j := range judged {
		id, cite, _ := strings.Cut(j, "=")
		citations := []any{}
		if kind, ref, ok := strings.Cut(cite, ":"); ok {
			citations = append(citations, map[string]any{"kind": kind, "ref": ref})
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
