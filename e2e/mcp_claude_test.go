//go:build e2e && linux

package e2e

import (
	"strings"
	"testing"
)

// claudeHosts calls the tools of our server one after the other, and does the job that
// it is given by an agent of its own. What it uses of a result it has read in it.
const claudeHosts = `
rules:` + hostedOthers + `
  - {name: agent, contains: Compare the two notes., do: [{text: "the notes differ in one word"}]}
  - {name: host plans, contains: Host the run, turn: 0, do: [{tool: {names: [mcp__orchestrate__plan], input: {spec: jobs.yaml, host: claude, agents: AGENTS}}}]}
  - {name: host starts, contains: Host the run, turn: 1, do: [{tool: {names: [mcp__orchestrate__start], input: {spec: jobs.yaml, host: claude, agents: AGENTS}}}]}
  - {name: host asks for a job, contains: Host the run, turn: 2, do: [{tool: {names: [mcp__orchestrate__next], input: {run: 'RUN', seconds: 20, by: general-purpose}}}]}
  - {name: host gives it on, contains: Host the run, turn: 3, do: [{tool: {names: [Agent], input: {subagent_type: general-purpose, description: compare, prompt: 'PROMPT'}}}]}
  - {name: host hands in, contains: Host the run, turn: 4, do: [{tool: {names: [mcp__orchestrate__submit], input: {run: 'RUN', job: compare, attempt: 'ATTEMPT', result: 'SAID', agent: general-purpose, usage: {inputTokens: 100, outputTokens: 5}}}}]}
  - {name: host waits, contains: Host the run, turn: 5, do: [{tool: {names: [mcp__orchestrate__wait], input: {run: 'RUN', seconds: 50}}}]}
  - {name: host reads, contains: Host the run, turn: 6, do: [{tool: {names: [mcp__orchestrate__report], input: {run: 'RUN'}}}]}
  - {name: host tells, contains: Host the run, do: [{text: 'Arbiter: {{find Arbiter: (\w+)}}'}]}
`

// sessionAgents is what a session says of its agents, as a server's tool takes it.
const sessionAgents = `[{name: general-purpose, description: Answers any question about files., tools: [Read, Grep], access: read, general: true}]`

// hostWords fills in what sessions have read in the tools' results, whether those
// came as they are or inside another text.
func hostWords(scenario string) string {
	return strings.NewReplacer(
		"RUN", `{{find runId\\*":\s*\\*"([^"\\]+)}}`, "ATTEMPT", `{{find attempt\\*":\s*\\*"([^"\\]+)}}`, "AGENTS", sessionAgents,
		"PROMPT", `{{find "prompt":\s*"((?:[^"\\]|\\.)*)"}}`, "SAID", `{{find (?s)\A(.*?)\nagentId:}}`,
	).Replace(scenario)
}

// The real claude finds the tools of our server, starts a run, has its own agent do the
// job that comes back to it, and reads the report.
func TestClaudeHostsARunOverMCP(t *testing.T) {
	l := hostedLab(t, hostWords(claudeHosts), "claude", claude())
	e := l.hosts(l.claudeServed()...).wants(0).sound()
	e.handedIn("compare", "general-purpose", "the notes differ in one word")
	if u := e.status("compare").Usage; u == nil || u.InputTokens == nil || *u.InputTokens != 100 {
		t.Errorf("usage %+v", u)
	}
	if !strings.Contains(e.stdout, "Arbiter: pass") {
		t.Errorf("the session does not end with the verdict:\n%s", e.asks())
	}
	e.keepTranscript("claude-mcp")
}
