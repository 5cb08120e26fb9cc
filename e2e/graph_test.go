//go:build e2e && linux

package e2e

import (
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/modelsim"
)

// wholeGraph has every kind of job. Nothing is handed from the scout to the writer,
// whose prompt would otherwise hold the scout's nonce. That nonce is only in the file that it
// reads, the writer's only in the tool call of its model.
const wholeGraph = `
version: 1
outcome: made.txt exists and the word of notes.txt is known
concurrency: 2
defaults: {timeout: 2m}
arbiter: {runtime: claude}
jobs:
  - id: scout
    runtime: claude
    task: scout
    prompt: Read notes.txt and say the word in it.
    expected_output: the word
  - id: write
    runtime: codex
    task: implement
    effect: scoped-write
    isolation: worktree
    owned_paths: [made.txt]
    outputs: [{path: made.txt}]
    prompt: Make the file made.txt.
    expected_output: the file made.txt
    checks: ["test -s made.txt"]
  - id: look
    runtime: exec
    effect: observe
    depends_on: [write]
    command: [test, -s, made.txt]
    expected_output: nothing
`

// wholeScenario lets the arbiter pass only with both nonces in its request.
const wholeScenario = `
rules:
  - name: arbiter
    api: anthropic
    contains: You are the arbiter of a finished run
    require: [SCOUT, PATCH]
    do: [{verdict: {}}]
    otherwise: [{verdict: {overall: fail}}]
  - {name: scout reads, api: anthropic, turn: 0, contains: Read notes.txt, do: [{read: notes.txt}]}
  - {name: scout, api: anthropic, contains: Read notes.txt, do: [{text: "SAYS"}]}
  - {name: writer writes, api: openai, turn: 0, contains: Make the file, do: [{write: {path: made.txt, content: "WRITES\n"}}]}
  - {name: writer, api: openai, do: [{text: made.txt is there}]}
`

func TestTheWholeGraphOnRealAgents(t *testing.T) {
	cases := []struct{ name, says, writes string }{
		{"pass", "{{tool_result}}", "{{nonce PATCH}}"},
		{"without the scout's word", "there is a word", "{{nonce PATCH}}"},
		{"without the patch's word", "{{tool_result}}", "something else"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			nonces := map[string]string{"SCOUT": "word-" + strings.ToLower(rand.Text()), "PATCH": "patch-" + strings.ToLower(rand.Text())}
			scenario := strings.NewReplacer("SAYS", c.says, "WRITES", c.writes).Replace(wholeScenario)
			l := newLab(t, scenario, nonces)
			l.repository("notes.txt", nonces["SCOUT"]+"\n")
			stop := l.watchCheckout()
			e := l.spec(wholeGraph)
			stop()
			if c.name != "pass" {
				if j := e.wants(1).verdict(); j.Verdict == "pass" || j.Overall != "fail" || len(j.Findings) > 0 {
					t.Errorf("verdict %+v", j)
				}
				return
			}
			e.wants(0).wholeAndSound(nonces)
		})
	}
}

// watchCheckout looks at the main checkout again and again until stop is called.
func (l *lab) watchCheckout() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			cmd := exec.Command("git", "--no-optional-locks", "status", "--porcelain")
			cmd.Dir, cmd.Env = l.dir, l.env
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				l.t.Errorf("the main checkout during the run: %v\n%s", err, out)
				return
			}
		}
	}()
	return func() { cancel(); <-over }
}

func (e *ended) wholeAndSound(nonces map[string]string) {
	e.t.Helper()
	if j := e.verdict(); j.Verdict != "pass" || len(j.Jobs) != 3 || j.Runtime != "claude" {
		e.t.Errorf("verdict %+v", j)
	}
	if answer := e.text("scout/output.md"); !strings.Contains(answer, nonces["SCOUT"]) {
		e.t.Errorf("the scout's answer: %q", answer)
	}
	patch := e.text("write/changes.patch")
	if !strings.Contains(patch, nonces["PATCH"]) {
		e.t.Errorf("the patch:\n%s", patch)
	}
	e.command(patch, "git", "apply", "--check", "-")
	for _, path := range []string{"spec.yaml", "jobs.yaml", "scout/prompt.md", "write/prompt.md"} {
		for _, n := range nonces {
			if strings.Contains(e.text(path), n) {
				e.t.Errorf("a nonce is in %s", path)
			}
		}
	}
	if want := "**Orchestrate Result**"; !strings.Contains(e.stdout, want) || !strings.Contains(e.stdout, "- Arbiter: pass") {
		e.t.Errorf("standard output:\n%s", e.stdout)
	}
	e.ownUserAgents()
	e.everyFile()
}

// everyFile: all that the run directory promises is there.
func (e *ended) everyFile() {
	e.t.Helper()
	job := []string{ledger.CommandFile, ledger.StdoutFile, ledger.StderrFile, ledger.StatusFile, ledger.EventsFile, ledger.ExitFile}
	agent := append([]string{ledger.PromptFile, ledger.OutputFile, ledger.SessionFile}, job...)
	want := []string{
		ledger.SpecFile, ledger.JobsFile, ledger.RuntimesFile, ledger.StateFile, ledger.JournalFile,
		ledger.ApprovalsFile, ledger.ReportFile, ledger.ReportJSONFile, "../" + ledger.HistoryFile,
		"write/changes.patch", "write/artifacts", "write/checks/1.json", "write/checks/1.out",
		ledger.JobPath(ledger.ArbiterJob, ledger.EvidenceFile), ledger.JobPath(ledger.ArbiterJob, ledger.VerdictFile),
	}
	for id, files := range map[string][]string{"scout": agent, "write": agent, "look": job, ledger.ArbiterJob: agent} {
		for _, f := range files {
			want = append(want, ledger.JobPath(id, f))
		}
	}
	for _, path := range want {
		if _, err := os.Stat(filepath.Join(e.run, path)); err != nil {
			e.t.Error(err)
		}
	}
}

// ownUserAgents: the model calls came from the real programs.
func (e *ended) ownUserAgents() {
	e.t.Helper()
	for _, r := range e.sim.Requests() {
		want := map[string]string{modelsim.Anthropic: "claude-cli/", modelsim.OpenAI: "codex_exec/"}[r.API]
		if !strings.HasPrefix(r.UserAgent, want) && r.API != "" {
			e.t.Errorf("user agent %q, want %q", r.UserAgent, want)
		}
		if r.API != "" && !r.Signed {
			e.t.Errorf("a call without a key: %+v", r)
		}
	}
}
