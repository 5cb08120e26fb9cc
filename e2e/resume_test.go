//go:build e2e && linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// One interrupt while three agents work stops them politely. Resumed, the run does
// all three again, and passes.
func TestAnInterruptedRunIsResumed(t *testing.T) {
	l := newLab(t, heldScenario, nil)
	l.repository()
	l.vouch()
	l.askedAt = 3
	e := l.spec(killedGraph, syscall.SIGINT).wants(130)
	if !strings.Contains(e.stderr, "orchestrate resume "+id(e.run)) {
		t.Errorf("it is not said how to go on:\n%s", e.stderr)
	}
	for _, job := range []string{"scan", "tell", "write"} {
		if s := e.status(job); s.Status != ledger.Interrupted || s.Reason != runtime.ReasonCancelled || s.Proof == nil || !s.Proof.Gone {
			t.Errorf("job %s: %s, %s: %s, proof %+v", job, s.Status, s.Reason, s.ReasonEvidence, s.Proof)
		}
	}
	l.release()
	e.again().wants(0).passed(map[string]int{"scan": 2, "tell": 2, "write": 2})
}

// fiveJobs follow one another as far as the first three; the arbiter is of another
// runtime.
const fiveJobs = `
version: 1
concurrency: 1
defaults: {runtime: %s, task: scout, expected_output: an answer, timeout: 3m}
arbiter: {runtime: %s}
jobs:
  - {id: one, prompt: Say the first word.}
  - {id: two, prompt: Say the second word., depends_on: [one]}
  - {id: three, prompt: Say the third word., depends_on: [two]}
  - {id: four, prompt: Say the fourth word., depends_on: [two]}
  - {id: five, prompt: Say the fifth word., depends_on: [two]}
`

// fiveAnswers has an answer for each of them, and for the arbiter, after other rules.
const fiveAnswers = `
rules:
  - {name: arbiter, contains: You are the arbiter, do: [{verdict: {}}]}
%s
  - {name: five, contains: fifth word, do: [{text: five}]}
  - {name: four, contains: fourth word, do: [{text: four}]}
  - {name: three, contains: third word, do: [{text: three}]}
  - {name: two, contains: second word, do: [{text: two}]}
  - {name: one, contains: first word, do: [{text: one}]}
`

// The third job meets the end of the quota: nothing more is started on that runtime,
// what is done is kept, and it is said how to go on. When the quota is back, a resumed
// run does the rest and asks nobody who was done.
func TestARunOutOfQuotaIsFinishedLater(t *testing.T) {
	cases := []struct {
		name, arbiter string
		code          int
		message, said string // by the service; by the agent
	}{
		{"codex", "claude", 402, "You've hit your usage limit. Try again at 21:20.", "You've hit your usage limit. Try again at 21:20."},
		{"claude", "codex", 400, "Your credit balance is too low to access the Anthropic API.", "Credit balance is too low"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			spent := fmt.Sprintf(`  - {name: spent, matches: "(third|fourth|fifth) word", do: [{status: {code: %d, message: "%s"}}]}`, c.code, c.message)
			l := newLab(t, fmt.Sprintf(fiveAnswers, spent), nil)
			l.repository()
			l.vouch()
			e := l.spec(fmt.Sprintf(fiveJobs, c.name, c.arbiter)).wants(1)
			for _, text := range []string{c.name + " is out of quota", c.said, "orchestrate resume " + id(e.run)} {
				if !strings.Contains(e.stderr, text) {
					t.Errorf("%q is not in\n%s", text, e.stderr)
				}
			}
			e.stand(ledger.Success, "one", "two")
			e.stand(ledger.Failed, "three")
			if s := e.status("three"); s.Reason != runtime.ReasonQuota {
				t.Errorf("%s: %s", s.Reason, s.ReasonEvidence)
			}
			for _, job := range []string{"four", "five"} {
				if _, err := os.Stat(filepath.Join(e.run, job, ledger.CommandFile)); err == nil {
					t.Errorf("job %s was started", job)
				}
			}
			before := answered(l.changeService(fmt.Sprintf(fiveAnswers, "")))
			e = e.again().wants(0)
			e.stand(ledger.Success, "one", "two", "three", "four", "five")
			after := answered(l.sim.Requests())
			t.Logf("asked before %v, after %v", before, after)
			for i, job := range []string{"one", "two", "three", "four", "five"} {
				if done := i < 2; (before[job] == 1) != done || (after[job] == 0) != done {
					t.Errorf("job %s: the model was asked %d times before the quota was back, and %d times after", job, before[job], after[job])
				}
			}
			if j := e.verdict(); j.Verdict != "pass" || j.Runtime != c.arbiter {
				t.Errorf("%+v", j)
			}
		})
	}
}

// stand demands that jobs stand so.
func (e *ended) stand(want ledger.Status, jobs ...string) {
	e.t.Helper()
	for _, job := range jobs {
		if s := e.status(job); s.Status != want {
			e.t.Errorf("job %s is %s, not %s: %s %s", job, s.Status, want, s.Reason, s.ReasonEvidence)
		}
	}
}

const twoScouts = `
version: 1
defaults: {task: scout, expected_output: an answer, timeout: 3m}
arbiter: {runtime: codex}
jobs:
  - {id: one, runtime: claude, prompt: Say the first word.}
  - {id: two, runtime: codex, prompt: Say the second word.}
`

// Claude is not signed in: its job is blocked and nobody asked. Signed in since, a
// resumed run does that job and judges, and does not ask again who was done.
func TestABlockedJobIsDoneOnceSignedIn(t *testing.T) {
	l := newLab(t, fmt.Sprintf(fiveAnswers, ""), nil)
	l.repository()
	l.vouch()
	signedIn := l.env
	l.env = slices.DeleteFunc(slices.Clone(signedIn), func(e string) bool { return strings.HasPrefix(e, "ANTHROPIC_API_KEY=") })
	e := l.spec(twoScouts).wants(3)
	if s := e.status("one"); s.Status != ledger.Blocked || s.Reason != runtime.BlockedNoRoute || !strings.Contains(s.ReasonEvidence.Unshown(), "not signed in") {
		t.Errorf("%s, %s: %s", s.Status, s.Reason, s.ReasonEvidence)
	}
	e.stand(ledger.Success, "two")
	if asked := answered(l.sim.Requests()); asked["one"] != 0 || asked["two"] != 1 {
		t.Errorf("asked: %v", asked)
	}
	l.env = signedIn
	e = e.again().wants(0)
	e.stand(ledger.Success, "one", "two")
	if asked := answered(l.sim.Requests()); asked["one"] != 1 || asked["two"] != 1 {
		t.Errorf("asked: %v", asked)
	}
	if j := e.verdict(); j.Verdict != "pass" {
		t.Errorf("verdict %q: %v", j.Verdict, j.Why)
	}
}
