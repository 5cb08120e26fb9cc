//go:build e2e && linux

package e2e

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
)

// workerScenario answers the second turn of a session from what the first one was told, and
// from nothing else: a fresh session has no codeword to find.
const workerScenario = `
rules:
  - {name: warm, matches: "(?s)codeword is [a-z0-9]+.*Which codeword", do: [{text: "the codeword was {{find codeword is ([a-z0-9]+)}}"}]}
  - {name: cold, contains: Which codeword, do: [{text: nobody told me}]}
  - {name: first, contains: codeword is, do: [{text: noted}]}
  - {name: research, contains: Research the topic, do: [{text: "found what there is"}]}
  - {do: [{text: "something else"}]}
`

// workers is a lab with these agents and a worker run.
func workers(t *testing.T, scenario string, all ...agent) (l *lab, run string) {
	t.Helper()
	t.Parallel()
	l = newAgentLab(t, scenario, nil, all...)
	l.repository("README.md", "a project\n")
	run = strings.TrimSpace(l.orchestrate("new-run").wants(0).stdout)
	if !filepath.IsAbs(run) {
		t.Fatalf("new-run printed %q", run)
	}
	return l, run
}

// task is what tasks/<id>/status.json says.
func (l *lab) task(run, id string) (s struct {
	Adapter   string
	Model     string
	State     string
	ExitCode  *int   `json:"exit_code"`
	SessionID string `json:"session_id"`
	Resumed   bool
	ResumeOf  string `json:"resume_of"`
},
) {
	l.t.Helper()
	data, err := os.ReadFile(filepath.Join(run, ledger.TasksDir, id, ledger.StatusFile))
	ok(l.t, err)
	ok(l.t, json.Unmarshal(data, &s))
	return s
}

// A follow-up goes on with the session that the first turn was held in, by each agent's own
// means: only there the codeword is known.
func TestWorkerFollowUpOnAWarmSession(t *testing.T) {
	for _, a := range []agent{claude(), codex(), opencode()} {
		t.Run(a.name, func(t *testing.T) {
			l, run := workers(t, workerScenario, a)
			codeword := strings.ToLower(rand.Text()[:12])
			l.file("work/first.txt", "The codeword is "+codeword+". Say that you have noted it.")
			l.orchestrate("dispatch", run, "first", "first.txt", "--adapter", a.name).wants(0)
			l.orchestrate("dispatch", run, "second", "--resume-from", "first", "--prompt", "Which codeword was it?").wants(0)
			l.orchestrate("dispatch", run, "fresh", "--adapter", a.name, "--prompt", "Which codeword was it?").wants(0)
			if got := l.orchestrate("output", run, "second").wants(0).stdout; !strings.Contains(got, "the codeword was "+codeword) {
				t.Errorf("the warm session answered %q", got)
			}
			if got := l.orchestrate("output", run, "fresh").wants(0).stdout; !strings.Contains(got, "nobody told me") {
				t.Errorf("the fresh session answered %q", got)
			}
			first, second := l.task(run, "first"), l.task(run, "second")
			if first.SessionID == "" || first.Resumed || second.ResumeOf == "" || !second.Resumed || second.Adapter != a.name {
				t.Errorf("first %+v, second %+v", first, second)
			}
		})
	}
}

// The commands of a coordinator: a batch of three of which one names a model, the table, an
// answer.
func TestWorkerBatchOfThree(t *testing.T) {
	l, run := workers(t, workerScenario, claude(), codex())
	l.orchestrate("doctor").wants(0)
	manifest := `{"defaults": {"timeout": 600}, "tasks": [
		{"id": "research-auth", "prompt": "Research the topic auth."},
		{"id": "research-db", "prompt": "Research the topic db."},
		{"id": "research-api", "prompt": "Research the topic api.", "model": "haiku"}
	]}`
	ok(t, os.WriteFile(filepath.Join(run, "stage1.json"), []byte(manifest), 0o600))
	e := l.orchestrate("batch", run, filepath.Join(run, "stage1.json"), "--max-parallel", "5").wants(0)
	for _, id := range []string{"research-auth", "research-db", "research-api"} {
		if s := l.task(run, id); s.State != string(ledger.Success) || s.ExitCode == nil || *s.ExitCode != 0 || s.SessionID == "" {
			t.Errorf("%s: %+v", id, s)
		}
		if n := strings.Count(e.stdout, id); n != 1 {
			t.Errorf("%s has %d lines in\n%s", id, n, e.stdout)
		}
		if got := l.orchestrate("output", run, id).wants(0).stdout; !strings.Contains(got, "found what there is") {
			t.Errorf("%s answered %q", id, got)
		}
	}
	if s := l.task(run, "research-api"); s.Adapter != "claude" || !strings.Contains(s.Model, "haiku") {
		t.Errorf("a model that only claude lists went to %+v", s)
	}
	if !strings.Contains(e.stdout, "unreviewed") {
		t.Errorf("it is not said that nobody reviewed:\n%s", e.stdout)
	}
	table := l.orchestrate("status", run).wants(0).stdout
	if !strings.Contains(table, "research-db") || !strings.Contains(table, "found what there is") {
		t.Errorf("the table is\n%s", table)
	}
	if got := l.orchestrate("output", run, "research-db", "--log").wants(0).stdout; !strings.Contains(got, "found what there is") {
		t.Errorf("the log is\n%s", got)
	}
	l.orchestrate("dispatch", run, "own", "--worker-cmd", `printf 'own: %s' "$WORKER_PROMPT"`, "--prompt", "--- a prompt").wants(0)
	if got := l.orchestrate("output", run, "own").wants(0).stdout; !strings.Contains(got, "own: --- a prompt") {
		t.Errorf("the custom command answered %q", got)
	}
}

// repairScenario is a worker that errs, and mends what it is told in the same session; a
// verifier sees which of the two it is.
const repairScenario = `
rules:
  - {name: accepts, contains: "the codeword was", matches: "Check the answer", do: [{text: '{"verdict": "pass", "findings": []}'}]}
  - {name: refuses, matches: "Check the answer", do: [{text: '{"verdict": "fail", "findings": ["NAMETHECODEWORD is not done"]}'}]}
  - {name: mends, matches: "(?s)codeword is [a-z0-9]+.*NAMETHECODEWORD", do: [{text: "the codeword was {{find codeword is ([a-z0-9]+)}}"}]}
  - {name: errs, contains: codeword is, do: [{text: "done, somehow"}]}
  - {do: [{text: "something else"}]}
`

const repairSpec = `
version: 1
defaults: {runtime: %s, effect: observe, timeout: 3m, expected_output: an answer}
arbiter: {mode: checks-only}
jobs:
  - {id: work, task: research, prompt: "The codeword is %s. Say it.", repair: {verifier: check, max: 2}}
  - {id: check, task: review, depends_on: [work], prompt: Check the answer.}
`

// A verification fails, the session of the work gets what was found and mends it, and a
// fresh verification accepts.
func TestWorkIsMendedInItsOwnSession(t *testing.T) {
	for _, a := range []agent{claude(), codex()} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			l := newAgentLab(t, repairScenario, nil, a)
			l.repository()
			l.vouch()
			codeword := strings.ToLower(rand.Text()[:12])
			e := l.spec(fmt.Sprintf(repairSpec, a.name, codeword)).wants(0)
			e.stand(ledger.Success, "work-1", "work-2", "check-1", "check-2", "work", "check")
			e.stand(ledger.Skipped, "work-3", "check-3")
			if got := e.text(filepath.Join("work", ledger.OutputFile)); !strings.Contains(got, "the codeword was "+codeword) {
				t.Errorf("the mended work is %q", got)
			}
			first, second := e.status("work-1"), e.status("work-2")
			if first.SessionID == "" || second.ResumedFrom != first.SessionID {
				t.Errorf("session %q, gone on with %q", first.SessionID, second.ResumedFrom)
			}
			if s := e.status("check-2"); s.ResumedFrom != "" || s.SessionID == e.status("check-1").SessionID {
				t.Errorf("the second verification is no fresh session: %+v", s.SessionID)
			}
			if prompt := e.text(filepath.Join("work-2", ledger.PromptFile)); strings.Contains(prompt, codeword) || !strings.Contains(prompt, "NAMETHECODEWORD") {
				t.Errorf("the session got more, or less, than what was found:\n%s", prompt)
			}
		})
	}
}
