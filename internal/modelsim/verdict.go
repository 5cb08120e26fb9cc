package modelsim

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// Verdict is an arbiter's answer about the jobs that the prompt names: everything
// passes, each job with the first thing that the prompt says may be cited. The
// fields change that.
type Verdict struct {
	Overall        string            `yaml:"overall"`        // "" = pass
	Jobs           map[string]string `yaml:"jobs"`           // job -> verdict
	Cite           map[string]string `yaml:"cite"`           // job -> KIND:REF, instead of what may be cited
	Assertions     map[string]string `yaml:"assertions"`     // name of an assertion -> yes, no or unsure
	Answers        map[int]string    `yaml:"answers"`        // question -> answer
	Contradictions []string          `yaml:"contradictions"` // that were found
	Unsupported    []string          `yaml:"unsupported"`    // unsupported claims
	Gaps           []string          `yaml:"gaps"`           // safety gaps
	Unresolved     []string          `yaml:"unresolved"`     // unresolved questions
}

// judged is one job of an arbiter's prompt.
type judged struct {
	id      string
	cite    string // KIND: REF
	asserts []string
}

var errNoJobs = errors.New("verdict: the request names no job to judge")

// answer is the verdict in the arbiter's form.
func (v Verdict) answer(user []string) (map[string]any, error) {
	jobs := judgedJobs(strings.Join(user, "\n"))
	if len(jobs) == 0 {
		return nil, errNoJobs
	}
	return map[string]any{
		"jobs": v.jobs(jobs), "questions": v.questions(), "contradictions": filled(v.Contradictions), "unsupportedClaims": filled(v.Unsupported),
		"safetyGaps": filled(v.Gaps), "unresolvedQuestions": filled(v.Unresolved), "overall": or(v.Overall, "pass"),
	}, nil
}

// formTools are those by which agents give an answer that is held to a schema.
var formTools = []string{"StructuredOutput", "structured_output"}

// verdict gives the answer as the request wants it: by the tool for it, as plain JSON,
// else in a fenced block.
func (p *player) verdict(v Verdict) (text *string, c *call, err error) {
	said, err := v.answer(p.request.User)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range formTools {
		if p.offers(name) {
			return nil, &call{name: name, input: said}, nil
		}
	}
	data, err := json.MarshalIndent(said, "", "  ")
	if p.request.JSON {
		return new(string(data)), nil, err
	}
	return new("```json\n" + string(data) + "\n```\n"), nil, err
}

func filled(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func (v Verdict) jobs(jobs []judged) []map[string]any {
	var out []map[string]any
	for _, j := range jobs {
		verdict, cite := "pass", j.cite
		if said, ok := v.Jobs[j.id]; ok {
			verdict = said
		}
		if said, ok := v.Cite[j.id]; ok {
			cite = said
		}
		citations := []map[string]string{}
		if kind, ref, ok := strings.Cut(cite, ":"); ok {
			citations = append(citations, map[string]string{"kind": kind, "ref": strings.TrimSpace(ref)})
		}
		out = append(out, map[string]any{"job": j.id, "verdict": verdict, "why": "as the scenario says", "citations": citations, "assertions": v.assertions(j.asserts)})
	}
	return out
}

// assertions says of each that it holds, unless the scenario says otherwise.
func (v Verdict) assertions(names []string) []map[string]string {
	out := []map[string]string{}
	for _, name := range names {
		out = append(out, map[string]string{"name": name, "holds": or(v.Assertions[name], "yes"), "why": "as the scenario says"})
	}
	return out
}

// questions gives the answers that a pass needs: 2 and 3 ask for something bad.
func (v Verdict) questions() []map[string]any {
	var out []map[string]any
	for n := 1; n <= 9; n++ {
		answer := "yes"
		if n == 2 || n == 3 {
			answer = "no"
		}
		if said, ok := v.Answers[n]; ok {
			answer = said
		}
		out = append(out, map[string]any{"n": n, "answer": answer, "why": "as the scenario says"})
	}
	return out
}

// The lists of an arbiter's prompt that are read.
const (
	citeList   = "May be cited:"
	assertList = "Assertions for you to check:"
)

// judgedJobs reads the jobs of an arbiter's prompt, what may be cited of each (the
// first item of its list) and its assertions. What stands inside fences is the jobs'
// own text.
func judgedJobs(prompt string) []judged {
	var jobs []judged
	list := ""
	outsideFences(prompt, func(line string) {
		id, isJob := strings.CutPrefix(line, "## Job ")
		item, isItem := strings.CutPrefix(line, "- ")
		switch {
		case isJob:
			jobs, list = append(jobs, judged{id: id}), ""
		case line == citeList, line == assertList:
			list = line
		case !isItem:
			list = ""
		case len(jobs) > 0:
			jobs[len(jobs)-1].take(list, item)
		}
	})
	return jobs
}

// take takes in one item of a list.
func (j *judged) take(list, item string) {
	switch list {
	case citeList:
		if j.cite == "" {
			j.cite = item
		}
	case assertList:
		if quoted, err := strconv.QuotedPrefix(item); err == nil {
			name, _ := strconv.Unquote(quoted) // it was found to be quoted
			j.asserts = append(j.asserts, name)
		}
	}
}

// outsideFences calls line for each line that is in no fenced block.
func outsideFences(text string, line func(string)) {
	fence := ""
	for l := range strings.SplitSeq(text, "\n") {
		ticks := l[:len(l)-len(strings.TrimLeft(l, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence == "":
			line(l)
		case l == fence:
			fence = ""
		}
	}
}
