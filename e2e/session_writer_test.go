//go:build e2e && linux

package e2e

import (
	"strings"
	"testing"

	"orchestrate/internal/check"
)

// writerGraph has a job that an agent of the session writes in a worktree of its own.
const writerGraph = `
version: 1
outcome: made.txt exists
defaults: {timeout: 2m, expected_output: the file made.txt}
arbiter: {runtime: claude}
jobs:
  - id: write
    runtime: internal
    task: implement
    effect: scoped-write
    owned_paths: [made.txt]
    prompt: Make the file made.txt.
    checks: [grep -q made made.txt]
`

// writerHosts gives its agent the prompt and nothing else. That agent starts in the
// session's own folder, and works where the prompt says.
const writerHosts = `
rules:` + hostedOthers + `
  - {name: agent writes, contains: Make the file made.txt., turn: 0, do: [{tool: {names: [Write], input: {file_path: '{{find Work in the folder .(/[^:]+).:}}/made.txt', content: "made\n"}}}]}
  - {name: agent, contains: Make the file made.txt., do: [{text: made.txt is there}]}
  - {name: host starts, contains: Host the run, turn: 0, do: [{tool: {names: [mcp__orchestrate__start], input: {spec: jobs.yaml, host: claude, agents: AGENTS}}}]}
  - {name: host asks for a job, contains: Host the run, turn: 1, do: [{tool: {names: [mcp__orchestrate__next], input: {run: 'RUN', seconds: 20}}}]}
  - {name: host gives it on, contains: Host the run, turn: 2, do: [{tool: {names: [Agent], input: {subagent_type: general-purpose, description: write, prompt: 'PROMPT'}}}]}
  - {name: host hands in, contains: Host the run, turn: 3, do: [{tool: {names: [mcp__orchestrate__submit], input: {run: 'RUN', job: write, attempt: 'ATTEMPT', result: 'SAID'}}}]}
  - {name: host waits, contains: Host the run, turn: 4, do: [{tool: {names: [mcp__orchestrate__wait], input: {run: 'RUN', seconds: 50}}}]}
  - {name: host tells, contains: Host the run, do: [{text: 'verdict {{find "verdict":"(\w+)}}'}]}
`

// An agent of the session writes in the job's worktree, not in the checkout in which the
// session works, and its work is checked and taken as any other.
func TestClaudesOwnAgentWrites(t *testing.T) {
	t.Parallel()
	agents := `[{name: general-purpose, tools: [Read, Write, Edit], access: edit, general: true}]`
	l := newAgentLab(t, hostWords(strings.ReplaceAll(writerHosts, "AGENTS", agents)), nil, claude())
	l.installProgram()
	l.vouch()
	l.repository("jobs.yaml", writerGraph)
	e := l.hosts(l.claudeServed()...).wants(0).sound()
	if last := e.lastWords(); last != "verdict pass" {
		t.Errorf("the session ends with %q:\n%s", last, e.asks())
	}
	e.handedIn("write", "general-purpose", "made.txt is there")
	if patch := e.text("write/changes.patch"); !strings.Contains(patch, "+made") {
		t.Errorf("the patch:\n%s", patch)
	}
	if s := e.status("write"); s.Worktree == nil || len(s.Checks) != 1 || s.Checks[0].Status != check.Passed {
		t.Errorf("%+v", s)
	}
}
