//go:build e2e && linux

package e2e

import (
	"strings"
	"testing"
)

// codexHosts calls the tools of our server, which are functions in a program there, and
// answers the request itself.
const codexHosts = `
rules:` + hostedOthers + `
  - {name: host looks, contains: Host the run, turn: 0, do: [{tool: {names: [mcp__orchestrate__plan], input: {spec: jobs.yaml, host: codex, agents: AGENTS}}}]}
  - {name: host starts, contains: Host the run, turn: 1, do: [{tool: {names: [mcp__orchestrate__start], input: {spec: jobs.yaml, host: codex, agents: AGENTS}}}]}
  - {name: host asks for a job, contains: Host the run, turn: 2, do: [{tool: {names: [mcp__orchestrate__next], input: {run: 'RUN', seconds: 20}}}]}
  - {name: host hands in, contains: Host the run, turn: 3, do: [{tool: {names: [mcp__orchestrate__submit], input: {run: 'RUN', job: compare, attempt: 'ATTEMPT', result: the notes differ}}}]}
  - {name: host waits, contains: Host the run, turn: 4, do: [{tool: {names: [mcp__orchestrate__wait], input: {run: 'RUN', seconds: 50}}}]}
  - {name: host reads, contains: Host the run, turn: 5, do: [{tool: {names: [mcp__orchestrate__report], input: {run: 'RUN'}}}]}
  - {name: host tells, contains: Host the run, do: [{text: 'Arbiter: {{find Arbiter: (\w+)}}'}]}
`

// The same from the real codex.
func TestCodexHostsARunOverMCP(t *testing.T) {
	l := hostedLab(t, hostWords(codexHosts), "codex", codex())
	e := l.hosts(l.codexServed()...).wants(0).sound()
	e.handedIn("compare", "general-purpose", "the notes differ")
	if u := e.status("compare").Usage; u != nil {
		t.Errorf("usage %+v of a job of which nothing was said", u)
	}
	if !strings.Contains(e.stdout, "Arbiter: pass") {
		t.Errorf("the session does not end with the verdict:\n%s", e.asks())
	}
	e.keepTranscript("codex-mcp")
}
