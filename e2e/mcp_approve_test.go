//go:build e2e && linux

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// guardedGraph has a job that only a person may let go on.
const guardedGraph = `
version: 1
outcome: the notes are counted
defaults: {timeout: 2m, expected_output: a sentence}
arbiter: {mode: checks-only}
jobs:
  - {id: count, runtime: exec, effect: observe, approval: require, command: [wc, -l, one.txt]}
`

const asksToApprove = `
rules:` + hostedOthers + `
  - {name: host starts, contains: Host the run, turn: 0, do: [{tool: {names: [mcp__orchestrate__start], input: {spec: jobs.yaml}}}]}
  - {name: host waits, contains: Host the run, turn: 1, do: [{tool: {names: [mcp__orchestrate__wait], input: {run: 'RUN', seconds: 50}}}]}
  - {name: host asks, contains: Host the run, turn: 2, do: [{tool: {names: [mcp__orchestrate__approve], input: {run: 'RUN'}}}]}
  - {name: host tells, contains: Host the run, do: [{text: '{{tool_result}}'}]}
`

// Where nobody is at the client, both agents answer for their user: no. Nothing is approved
// by that, and the model is told to ask the user, what and where to type.
func TestNobodyIsThereToApprove(t *testing.T) {
	for _, c := range []struct {
		agent agent
		argv  func(l *lab) []string
	}{
		{claude(), (*lab).claudeServed},
		{codex(), (*lab).codexServed},
	} {
		t.Run(c.agent.name, func(t *testing.T) {
			t.Parallel()
			l := newAgentLab(t, hostWords(asksToApprove), nil, c.agent)
			l.installProgram()
			l.repository("jobs.yaml", guardedGraph, "one.txt", "first\n")
			e := l.hosts(c.argv(l)...).wants(0).sound()
			if s := e.status("count"); s.Status != ledger.Blocked || s.Reason != runtime.BlockedApproval || s.Attempts != 0 {
				t.Errorf("%s, %s, %d attempts", s.Status, s.Reason, s.Attempts)
			}
			for _, text := range []string{"sk the user", "orchestrate resume " + id(e.run), "wc -l one.txt"} {
				if !strings.Contains(e.stdout, text) {
					t.Errorf("%q is not in the session:\n%s", text, e.asks())
				}
			}
		})
	}
}

// claudeServed is a claude that hosts a run by our server's tools.
func (l *lab) claudeServed() []string {
	return []string{
		filepath.Join(l.bin, "claude"), "-p", asHost, "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits", "--strict-mcp-config",
		"--mcp-config", `{"mcpServers": {"orchestrate": {"command": "orchestrate", "args": ["mcp"]}}}`, "--allowedTools", "mcp__orchestrate__*,Agent",
	}
}

// codexServed is a codex that does the same. It passes almost nothing of its environment
// on to a server, so that what the run's agents need is named, and asks before every call
// of a tool that changes something unless its configuration says otherwise.
func (l *lab) codexServed() []string {
	return []string{
		filepath.Join(l.bin, "codex"), "exec", "--json", "-c", "analytics.enabled=false",
		"-c", `mcp_servers.orchestrate={command="orchestrate", args=["mcp"], default_tools_approval_mode="approve", env_vars=["CODEX_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"]}`,
		asHost,
	}
}
