package arbiter

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"orchestrate/internal/schema"
	"orchestrate/internal/untrusted"
)

// answerSchema is the JSON Schema (draft 2020-12) of the arbiter's answer.
//
//go:embed answer.schema.json
var answerSchema []byte

var compiled = sync.OnceValue(func() *schema.Schema { return schema.MustCompile(answerSchema) })

// AnswerSchema is the JSON Schema of the answer, for a runtime that can hold its
// model to one.
func AnswerSchema() []byte { return slices.Clone(answerSchema) }

// Asked is a job that the arbiter is asked about.
type Asked struct {
	Job     string
	Asserts []string // names of its assertions, as the evidence shows them
}

// Verdict is the arbiter's answer as it gave it.
type Verdict struct {
	Jobs                []JobVerdict     `json:"jobs"`
	Questions           []Answer         `json:"questions"`
	Contradictions      []untrusted.Text `json:"contradictions"`
	UnsupportedClaims   []untrusted.Text `json:"unsupportedClaims"`
	SafetyGaps          []untrusted.Text `json:"safetyGaps"`
	UnresolvedQuestions []untrusted.Text `json:"unresolvedQuestions"`
	Overall             string           `json:"overall"` // pass | fail | blocked
}

// JobVerdict is the arbiter's word on one job.
type JobVerdict struct {
	Job        string         `json:"job"`
	Verdict    string         `json:"verdict"` // pass | fail | unsure
	Why        untrusted.Text `json:"why"`
	Citations  []Citation     `json:"citations"`
	Assertions []Assertion    `json:"assertions"`
}

// Assertion is the arbiter's word on one assertion of a job.
type Assertion struct {
	Name  string         `json:"name"`
	Holds string         `json:"holds"` // yes | no | unsure
	Why   untrusted.Text `json:"why"`
}

// Answer is the arbiter's to one of the nine questions.
type Answer struct {
	N      int            `json:"n"`
	Answer string         `json:"answer"` // yes | no | unsure
	Why    untrusted.Text `json:"why"`
}

// Parse reads an arbiter's final message: its last fenced json block, else the
// whole message. The form is strict: no unknown, missing or repeated key, every
// job asked about with each of its assertions, every question exactly once, and no
// other verdict beside it. The error lists everything that is
// wrong, for RepairPrompt.
func Parse(answer untrusted.Text, asked []Asked) (Verdict, error) {
	text, beside := lastBlock(answer.Unshown())
	if err := singleKeys(text); err != nil {
		return Verdict{}, err
	}
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return Verdict{}, fmt.Errorf("not one JSON value: %w", err)
	}
	if faults := compiled().Check(doc); len(faults) > 0 {
		return Verdict{}, explain(faults)
	}
	var v Verdict
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return Verdict{}, err
	}
	return v, errors.Join(append(onceEach(v, asked), oneVerdict(text, beside))...)
}

// oneVerdict refuses an answer that says something else beside its last block: which of
// the two is the arbiter's, and which it only quotes, nobody can tell for certain.
func oneVerdict(text, beside string) error {
	said := saidIn(text)
	for _, s := range saidIn(beside) {
		if s.kind == ofCitation || slices.Contains(said, s) {
			continue
		}
		if s.name != "" || slices.Contains([]string{Pass, Fail, Blocked, "unsure"}, s.word) {
			return fmt.Errorf("there are two verdicts: the last json block does not say %q, which stands beside it; give one JSON object, and quote no other", s)
		}
	}
	return nil
}

// lastBlock is the content of the last block fenced as json, else everything; beside is
// what else there is.
func lastBlock(answer string) (text, beside string) {
	var block, found strings.Builder
	fence, any, from, first, last := "", false, 0, 0, 0
	lines := strings.Split(answer, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, " \t\r")
		trimmed := strings.TrimLeft(line, " ")
		ticks := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		rest := strings.TrimSpace(trimmed[len(ticks):])
		switch {
		case fence == "" && len(ticks) >= 3 && strings.EqualFold(rest, "json"):
			fence, from = ticks, i
			block.Reset()
		case fence != "" && len(ticks) >= len(fence) && rest == "":
			fence, any, first, last = "", true, from, i
			found.Reset()
			found.WriteString(block.String())
		case fence != "":
			block.WriteString(line + "\n")
		}
	}
	if any {
		return found.String(), strings.Join(slices.Concat(lines[:first], []string{"```"}, lines[last+1:]), "\n")
	}
	return strings.TrimSpace(answer), ""
}

// singleKeys refuses an object that says one key twice: which of the two counts
// would be a matter of taste.
func singleKeys(text string) error {
	dec := json.NewDecoder(strings.NewReader(text))
	type level struct {
		keys   map[string]bool // nil in an array
		expect bool            // the next string is a key
	}
	var stack []level
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		top := len(stack) - 1
		if key, ok := tok.(string); ok && top >= 0 && stack[top].expect {
			if stack[top].keys[key] {
				return fmt.Errorf("the key %q is there twice in one object", key)
			}
			stack[top].keys[key], stack[top].expect = true, false
			continue
		}
		switch tok {
		case json.Delim('{'):
			stack = append(stack, level{keys: map[string]bool{}, expect: true})
			continue
		case json.Delim('['):
			stack = append(stack, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:top]
		}
		if n := len(stack); n > 0 && stack[n-1].keys != nil {
			stack[n-1].expect = true // a value of this object is complete
		}
	}
}

// explain lists what is wrong, for RepairPrompt.
func explain(faults []schema.Fault) error {
	errs := make([]error, 0, len(faults))
	for _, f := range faults {
		errs = append(errs, errors.New(f.String()))
	}
	return errors.Join(errs...)
}

// onceEach holds the answer to exactly what was asked.
func onceEach(v Verdict, asked []Asked) (errs []error) {
	given := map[string][]JobVerdict{}
	for _, j := range v.Jobs {
		given[j.Job] = append(given[j.Job], j)
		if !slices.ContainsFunc(asked, func(a Asked) bool { return a.Job == j.Job }) {
			errs = append(errs, fmt.Errorf("jobs: %q is no job of the evidence", j.Job))
		}
	}
	for _, a := range asked {
		if n := len(given[a.Job]); n != 1 {
			errs = append(errs, fmt.Errorf("jobs: job %q is there %d times, not once", a.Job, n))
			continue
		}
		errs = append(errs, assertsOnce(given[a.Job][0], a.Asserts)...)
	}
	answers := map[int]int{}
	for _, q := range v.Questions {
		answers[q.N]++
	}
	for _, q := range Questions() {
		if answers[q.N] != 1 {
			errs = append(errs, fmt.Errorf("questions: question %d is answered %d times, not once", q.N, answers[q.N]))
		}
	}
	return errs
}

// assertsOnce holds the word on a job to its assertions. A spec may give two the same
// name; then both are to be answered.
func assertsOnce(j JobVerdict, names []string) (errs []error) {
	count := func(list []string) map[string]int {
		n := map[string]int{}
		for _, name := range list {
			n[name]++
		}
		return n
	}
	var said []string
	for _, a := range j.Assertions {
		said = append(said, a.Name)
	}
	given, wanted := count(said), count(names)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if wanted[name] == 0 {
			errs = append(errs, fmt.Errorf("jobs: job %q has no assertion %q", j.Job, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if given[name] != wanted[name] {
			errs = append(errs, fmt.Errorf("jobs: assertion %q of job %q is answered %d times, not %d", name, j.Job, given[name], wanted[name]))
		}
	}
	return errs
}
