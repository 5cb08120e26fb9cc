package script

import (
	"strconv"
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
			"assertions": affirmed(offered.asserts[id]),
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

// affirmed says of each assertion that it holds.
func affirmed(names []string) []any {
	all := make([]any, 0, len(names))
	for _, name := range names {
		all = append(all, map[string]any{"name": name, "holds": "yes", "why": standin.Mark})
	}
	return all
}

// passingAnswer: questions 2 and 3 ask for something bad, the others for something good.
func passingAnswer(n int) string {
	if n == 2 || n == 3 {
		return "no"
	}
	return "yes"
}

// offer is what the evidence lets the arbiter cite, and what it asks of it.
type offer struct {
	ids     []string            // of the jobs, in their order
	cite    map[string]string   // by id, the first thing that may be cited: "kind: ref"
	asserts map[string][]string // by id, the names of its assertions
}

// The lists of the evidence that are read.
const (
	citeList   = "May be cited:"
	assertList = "Assertions for you to check:"
)

// citable reads the evidence as it stands in the prompt: a heading per job, a list of
// what may be cited and one of assertions, each by its name in quotes. Fenced text is
// the jobs' own and is passed over.
func citable(prompt string) offer {
	o := offer{cite: map[string]string{}, asserts: map[string][]string{}}
	fence, list := 0, ""
	for line := range strings.SplitSeq(prompt, "\n") {
		ticks := len(line) - len(strings.TrimLeft(line, "`"))
		switch {
		case fence > 0:
			if ticks >= fence && strings.TrimLeft(line, "`") == "" {
				fence = 0
			}
		case ticks >= 3:
			fence, list = ticks, ""
		case strings.HasPrefix(line, "## Job "):
			o.ids, list = append(o.ids, strings.TrimPrefix(line, "## Job ")), ""
		case line == citeList, line == assertList:
			list = line
		case !strings.HasPrefix(line, "- "):
			list = ""
		case len(o.ids) > 0:
			o.item(list, strings.TrimPrefix(line, "- "))
		}
	}
	return o
}

// item takes in one item of a list of the newest job.
func (o offer) item(list, item string) {
	id := o.ids[len(o.ids)-1]
	switch list {
	case citeList:
		if o.cite[id] == "" {
			o.cite[id] = item
		}
	case assertList:
		if quoted, err := strconv.QuotedPrefix(item); err == nil {
			name, _ := strconv.Unquote(quoted) // it was found to be quoted
			o.asserts[id] = append(o.asserts[id], name)
		}
	}
}
