//go:build e2e && linux

package e2e

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/modelsim"
	"orchestrate/internal/runtime"
)

// One agent works and the other judges. What the worker says, changes, leaves and what
// its check prints each hold a word of their own, and big.txt one that no bundle has
// room for: only who reads the file knows it.
const judgedGraph = `
version: 1
outcome: made.txt and report.md exist
concurrency: 2
defaults: {timeout: 2m, expected_output: the file made.txt}
arbiter: {runtime: JUDGE, timeout: LIMIT, max_evidence_bytes: 32768}
jobs:
  - id: make
    runtime: MAKER
    task: implement
    effect: scoped-write
    isolation: worktree
    owned_paths: [made.txt, big.txt]
    prompt: Make the files.
    checks: [cat check.txt]
  - id: pack
    runtime: exec
    effect: observe
    outputs: [{path: report.md}]
    command: [sh, -c, 'cp packed.txt "$ORCHESTRATE_OUT/report.md" && cat .env']
`

// makes plays the worker.
const makes = `
  - {name: make writes, contains: Make the files., turn: 0, do: [{write: {path: made.txt, content: "{{nonce PATCH}}\n"}}]}
  - {name: make writes more, contains: Make the files., turn: 1, do: [{write: {path: big.txt, content: "BIG"}}]}
  - {name: make, contains: Make the files., do: [{text: "both are there: {{nonce ANSWER}}"}]}
`

// bigLine is the line of big.txt that holds a word, of bigLines.
const bigLine, bigLines = 570, 600

// judging is one case: what the judge says, and what must come of it.
type judging struct {
	name    string
	says    func(judge string) string // rules of the judge
	exit    int
	verdict string
	why     string // part of the reasons
	asked   int    // attempts of the arbiter
	then    func(t *testing.T, e *ended)
}

func judgings() []judging {
	return []judging{
		{"pass", reads, 0, "pass", "", 1, carried},
		{"contradiction", answers(`{contradictions: ["make says both are there, the patch has one"], answers: {3: "yes"}, overall: fail}`), 1, "fail", "the patch has one", 1, nil},
		{"false citation", answers(`{cite: {make: "file:make:made.txt:999"}}`), 3, "blocked", "made.txt:999", 1, unsupported},
		{"malformed once", malformed(wrongTool, `{verdict: {}}`), 0, "pass", "", 2, repaired},
		{"malformed twice", malformed(plainWords, plainWords), 3, "blocked", "has not the form", 2, repaired},
		{"hang", answers("hang"), 3, "blocked", "timeout", 1, judgedAgain},
	}
}

const asArbiter = "contains: You are the arbiter of a finished run"

// answers is a judge that does one thing.
func answers(step string) func(string) string {
	if step == "hang" {
		step = "{hang: true}"
	} else {
		step = "{verdict: " + step + "}"
	}
	return func(string) string { return fmt.Sprintf("  - {name: arbiter, %s, do: [%s]}\n", asArbiter, step) }
}

// reads is a judge that reads a line of a file of the worker's, by its own means.
func reads(judge string) string {
	step := fmt.Sprintf(`{tool: {names: [Read], input: {file_path: "{{cwd}}/orchestrate-review/make/files/big.txt", offset: %d, limit: 1}}}`, bigLine)
	if judge == "codex" {
		step = fmt.Sprintf(`{shell: "sed -n %dp orchestrate-review/make/files/big.txt"}`, bigLine)
	}
	return fmt.Sprintf("  - {name: arbiter reads, %s, turn: 0, do: [%s]}\n  - {name: arbiter, %[1]s, do: [{verdict: {}}]}\n", asArbiter, step)
}

// What has not the form asked for: words, or a wrong call of claude's tool for the form,
// which the program has repeated until it gives up.
const (
	plainWords = `{text: it is all fine}`
	wrongTool  = `{tool: {names: [StructuredOutput], input: {jobs: all fine}}}`
)

// malformed is a judge that answers in another form, and then, asked again, so.
func malformed(first, then string) func(string) string {
	return func(judge string) string {
		if judge == "codex" { // it has no such tool
			first = plainWords
		}
		return fmt.Sprintf("  - {name: arbiter repairs, contains: Your answer could not be read, do: [%s]}\n  - {name: arbiter, %s, do: [%s]}\n", then, asArbiter, first)
	}
}

func TestOneAgentJudgesTheOther(t *testing.T) {
	for _, way := range [][2]string{{"claude", "codex"}, {"codex", "claude"}} {
		for _, c := range judgings() {
			t.Run(way[1]+" judges "+way[0]+"/"+c.name, func(t *testing.T) {
				l := judgedLab(t, c.says(way[1]))
				limit := "2m"
				if c.name == "hang" {
					limit = "12s"
				}
				e := l.spec(strings.NewReplacer("MAKER", way[0], "JUDGE", way[1], "LIMIT", limit).Replace(judgedGraph)).wants(c.exit)
				e.judged(way, c)
				if c.then != nil {
					c.then(t, e)
				}
			})
		}
	}
}

// judgedLab has the two agents, of two families, and the words.
func judgedLab(t *testing.T, judge string) *lab {
	t.Helper()
	nonces := map[string]string{}
	for _, name := range []string{"ANSWER", "PATCH", "ARTIFACT", "CHECK", "DEEP", "SECRET"} {
		nonces[name] = strings.ToLower(name) + "-" + strings.ToLower(rand.Text())
	}
	var big strings.Builder
	for i := range bigLines {
		word := "nothing to see in this line of the file, as in all but one of the others"
		if i+1 == bigLine {
			word = "{{nonce DEEP}}"
		}
		fmt.Fprintf(&big, `%d %s\n`, i+1, word)
	}
	l := newLab(t, "rules:\n"+judge+strings.Replace(makes, "BIG", big.String(), 1), nonces)
	l.file("home/.config/orchestrate/config.yaml", "runtimes: {claude: {capability: C3, family: one}, codex: {capability: C3, family: two}}\n")
	l.repository(
		"packed.txt", nonces["ARTIFACT"]+"\n", "check.txt", nonces["CHECK"]+"\n", ".gitignore", ".env\n",
	)
	l.file("work/.env", "SERVICE_TOKEN="+nonces["SECRET"]+"\n")
	l.keys = append(l.keys, nonces["SECRET"])
	return l
}

// judged holds the verdict, the report and what the judge was sent against the case.
func (e *ended) judged(way [2]string, c judging) {
	e.t.Helper()
	j := e.verdict()
	if j.Verdict != c.verdict || j.Runtime != way[1] || j.Independence != "independent" || !strings.Contains(strings.Join(j.Why, "\n"), c.why) {
		e.t.Errorf("verdict %q by %s, %s: %q", j.Verdict, j.Runtime, j.Independence, j.Why)
	}
	if n := e.status(ledger.ArbiterJob).Attempts; n != c.asked {
		e.t.Errorf("the arbiter was asked %d times, want %d", n, c.asked)
	}
	for _, text := range []string{"- Arbiter: " + c.verdict, "- Jobs: 2/2/0"} {
		if !strings.Contains(e.stdout, text) || !strings.Contains(e.text(ledger.ReportFile), text) {
			e.t.Errorf("%q is not in the report or on standard output:\n%s", text, e.stdout)
		}
	}
	asked := e.arbiterCalls()
	if len(asked) == 0 {
		e.t.Fatal("the judge was asked nothing")
	}
	for i, r := range asked {
		if !strings.Contains(strings.Join(r.User, "\n"), "SERVICE_TOKEN=") { // which has the secret beside it
			e.t.Errorf("call %d of the judge does not hold what pack printed", i+1)
		}
		want := []string{"ANSWER", "ARTIFACT", "CHECK", "PATCH"}
		if len(r.Results) > 0 && c.name == "pass" { // it has read the file
			want = []string{"ANSWER", "ARTIFACT", "CHECK", "DEEP", "PATCH"}
		}
		if !slices.Equal(r.Nonces, want) {
			e.t.Errorf("call %d of the judge holds %v, want %v", i+1, r.Nonces, want)
		}
	}
}

// arbiterCalls are the model calls of the arbiter.
func (l *lab) arbiterCalls() (calls []modelsim.Request) {
	for _, r := range l.sim.Requests() {
		if strings.HasPrefix(r.Rule, "arbiter") {
			calls = append(calls, r)
		}
	}
	return calls
}

// carried: the judge read the tree, and its answer came in the form that its program
// holds it to.
func carried(t *testing.T, e *ended) {
	calls := e.arbiterCalls()
	last := calls[len(calls)-1]
	if len(last.Results) != 1 || !slices.Contains(last.Nonces, "DEEP") {
		t.Errorf("what it read: %q", last.Results)
	}
	s := e.status(ledger.ArbiterJob)
	if !slices.Contains(s.Controls, "answer-schema") || !last.JSON && !slices.Contains(last.Tools, "StructuredOutput") {
		t.Errorf("its answer has no form: controls %v, tools %v", s.Controls, last.Tools)
	}
	if answer := e.text("arbiter/output.md"); !strings.HasPrefix(answer, "{") {
		t.Errorf("its answer is not the bare object:\n%s", answer)
	}
}

// repaired: the judge was shown what it had said and asked for the form only.
func repaired(t *testing.T, e *ended) {
	first := e.statusAt(ledger.ArbiterJob + "/attempt-1/" + ledger.StatusFile)
	if first.Status != ledger.Failed || first.Reason != runtime.BlockedNoAnswer {
		t.Errorf("the first answer: %s, %s: %s", first.Status, first.Reason, first.ReasonEvidence)
	}
	calls := e.arbiterCalls()
	if again := calls[len(calls)-1]; again.Rule != "arbiter repairs" || !strings.Contains(strings.Join(again.User, "\n"), "all fine") {
		t.Errorf("rule %q: what it said before is not in its second question", again.Rule)
	}
}

// unsupported: the claim that rests on what is not there is listed.
func unsupported(t *testing.T, e *ended) {
	j := e.verdict()
	if len(j.UnsupportedClaims) != 1 || !strings.Contains(j.UnsupportedClaims[0].Unshown(), "made.txt:999") {
		t.Errorf("unsupported claims %v", j.UnsupportedClaims)
	}
}

// judgedAgain: once the service answers again, only the judge is asked.
func judgedAgain(t *testing.T, e *ended) {
	e.changeService("rules:\n" + answers("{}")(""))
	e = e.again().wants(0)
	if j := e.verdict(); j.Verdict != "pass" {
		t.Errorf("verdict %q: %q", j.Verdict, j.Why)
	}
	for _, job := range []string{"make", "pack"} {
		if n := e.status(job).Attempts; n != 1 {
			t.Errorf("job %s was done %d times", job, n)
		}
	}
	for _, r := range e.sim.Requests() {
		if r.API != "" && r.Rule != "arbiter" {
			t.Errorf("asked beside the judge: rule %q, %q", r.Rule, r.Error)
		}
	}
}

const checkedByQwen = `
version: 1
arbiter: {runtime: qwen}
jobs:
  - {id: look, runtime: exec, effect: observe, command: [cat, notes.txt], expected_output: a word, timeout: 1m}
`

// Its tool for the form stays when all others are taken away by name.
func TestQwenAnswersInTheForm(t *testing.T) {
	l := newAgentLab(t, "rules:\n"+answers("{}")(""), nil, qwen())
	l.file("home/.config/orchestrate/config.yaml", "runtimes: {qwen: {capability: C3}}\n")
	l.repository("notes.txt", "x\n")
	e := l.spec(checkedByQwen).wants(0)
	if j := e.verdict(); j.Verdict != "pass" || j.Runtime != "qwen" {
		t.Errorf("verdict %q by %s: %q", j.Verdict, j.Runtime, j.Why)
	}
	calls := l.arbiterCalls()
	if len(calls) != 1 || !slices.Contains(calls[0].Tools, "structured_output") || slices.Contains(calls[0].Tools, "write_file") {
		t.Errorf("%d calls, the first with the tools %v", len(calls), calls[0].Tools)
	}
}

// Only one agent is there, and with it one family.
const oneFamily = `
version: 1
defaults: {timeout: 2m, expected_output: a sentence}
arbiter: {require_independent: REQUIRED}
jobs:
  - {id: look, runtime: claude, task: scout, prompt: Say a sentence.}
`

// It is said before money is spent that nobody else can judge, and again in the verdict
// and in the report; where an independent judge is required, no model is called at all.
func TestOnlyOneFamilyIsThere(t *testing.T) {
	l := newAgentLab(t, judgedScenario, nil, claude())
	l.file("home/.config/orchestrate/config.yaml", "runtimes: {claude: {capability: C3, family: one}}\n")
	l.repository("notes.txt", "x\n")
	const label = "not-independent: job look was done by the same family (one)"

	required := l.spec(strings.Replace(oneFamily, "REQUIRED", "true", 1)).wants(3)
	if n := required.status("look").Attempts; n != 0 || !strings.Contains(required.stderr, "an independent judge is required") {
		t.Errorf("%d attempts of the job:\n%s", n, required.stderr)
	}
	for _, r := range l.sim.Requests() {
		if r.API != "" {
			t.Errorf("a model was called: %s %s", r.Method, r.Path)
		}
	}

	l.file("jobs.yaml", strings.Replace(oneFamily, "REQUIRED", "false", 1))
	if plan := l.orchestrate("plan", filepath.Join(l.base, "jobs.yaml")).wants(0); !strings.Contains(plan.stdout, label) {
		t.Errorf("%q is not in the plan:\n%s", label, plan.stdout)
	}
	e := l.spec(strings.Replace(oneFamily, "REQUIRED", "false", 1)).wants(0)
	if j := e.verdict(); j.Verdict != "pass" || j.Independence != label {
		t.Errorf("verdict %q, %s", j.Verdict, j.Independence)
	}
	if !strings.Contains(e.text(ledger.ReportFile), label) {
		t.Errorf("%q is not in the report:\n%s", label, e.text(ledger.ReportFile))
	}
}
