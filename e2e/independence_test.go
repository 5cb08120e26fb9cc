//go:build e2e && linux

package e2e

import (
	"strings"
	"testing"
)

// Both agents work against a service of another address, so nobody knows whose models
// answer: it is the operator's word on the families that makes a judge independent.
const judgedWork = `
version: 1
defaults: {timeout: 2m, expected_output: a sentence}
arbiter: {runtime: codex, require_independent: true}
jobs:
  - {id: look, runtime: claude, task: scout, prompt: Say a sentence.}
`

const reviewedWork = `
version: 1
defaults: {timeout: 2m, expected_output: a sentence}
arbiter: {mode: checks-only}
jobs:
  - {id: look, runtime: claude, task: scout, prompt: Say a sentence.}
  - {id: judge, runtime: codex, task: review, prompt: Is that a sentence?, depends_on: [look]}
`

const judgedScenario = `
rules:
  - {contains: You are the arbiter, do: [{verdict: {}}]}
  - {do: [{text: this is a sentence}]}
`

func TestAnIndependentJudge(t *testing.T) {
	families := func(l *lab, claude, codex string) {
		l.file("home/.config/orchestrate/config.yaml",
			"runtimes: {claude: {capability: C3, family: "+claude+"}, codex: {capability: C3, family: "+codex+"}}\n")
		l.repository("notes.txt", "x\n")
	}
	for _, c := range []struct{ name, claude, codex, independence string }{
		{"two makers", "one", "two", "independent"},
		{"one maker", "one", "one", "not-independent: job look was done by the same family (one)"},
		{"nobody says", `""`, `""`, "not-independent: its own family is unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t, judgedScenario, nil)
			families(l, c.claude, c.codex)
			review := l.spec(reviewedWork).wants(0)
			if s := review.status("judge"); s.Route == nil || s.Route.Independence != c.independence {
				t.Errorf("the review: %+v", s.Route)
			}
			if c.independence != "independent" {
				e := l.spec(judgedWork).wants(3)
				if n := e.status("look").Attempts; n != 0 || !strings.Contains(e.stderr, "an independent judge is required") {
					t.Errorf("%d attempts were paid for before it was said:\n%s", n, e.stderr)
				}
				return
			}
			if j := l.spec(judgedWork).wants(0).verdict(); j.Verdict != "pass" || j.Independence != c.independence {
				t.Errorf("verdict %+v", j)
			}
		})
	}
}
