//go:build e2e && linux

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/process"
)

// shellGraph has two jobs for whoever hosts the run, one of which needs what a writer
// made, that writer and the arbiter.
const shellGraph = `
version: 1
outcome: made.txt exists and was looked at
concurrency: 2
defaults: {timeout: 2m, expected_output: a sentence}
arbiter: {runtime: claude}
jobs:
  - {id: ask, runtime: internal, task: scout, prompt: Say what made.txt is for.}
  - id: write
    runtime: claude
    task: implement
    effect: scoped-write
    isolation: worktree
    owned_paths: [made.txt]
    prompt: Make the file made.txt.
    checks: [grep -q made made.txt]
  - {id: look, runtime: internal, task: scout, depends_on: [ask, write], prompt: Say what is in made.txt.}
`

const shellScenario = `
rules:` + hostedOthers + `
  - {name: HOLDwrite, contains: Make the file made.txt., turn: 0, do: [{write: {path: made.txt, content: "made\n"}}]}
  - {name: write, contains: Make the file made.txt., do: [{text: made.txt is there}]}
`

const shellAgents = `{"schemaVersion": 1, "agents": [{"name": "me", "description": "Answers any question.", "tools": ["Read"], "access": "read", "general": true}]}`

// shellHost is a session that is no agent at all: it takes what there is to do, does it,
// hands it in, until the run has ended.
const shellHost = `set -eu
field() { node -e 'let v = JSON.parse(require("fs").readFileSync(0)); for (const k of process.argv[1].split(".")) v = v?.[k]; console.log(v ?? "")' "$1"; }
run=$(orchestrate run jobs.yaml --agents agents.json --detach --json | field runId)
while :; do
	status=0
	orchestrate next "$run" --wait 50s --by me --json >asked.json || status=$?
	[ $status -ne 5 ] || continue
	[ $status -eq 0 ] || exit $status
	attempt=$(field request.attempt <asked.json) job=$(field request.job <asked.json)
	[ -n "$attempt" ] || break
	field request.prompt <asked.json >prompt.txt
	grep -q made.txt prompt.txt
	echo "$job is answered by the shell" | orchestrate submit "$run" "$job" --attempt "$attempt" --result - --agent me
done
exec orchestrate wait "$run"
`

// shellLab has the spec, the agents' file and the script, all committed but what the
// script writes, which git ignores.
func shellLab(t *testing.T, hold string) *lab {
	t.Helper()
	t.Parallel()
	l := newAgentLab(t, strings.Replace(shellScenario, "HOLD", hold, 1), nil, claude())
	l.installProgram()
	l.vouch()
	l.repository("jobs.yaml", shellGraph, "agents.json", shellAgents, "host.sh", shellHost, ".gitignore", "asked.json\nprompt.txt\n")
	return l
}

// Two jobs of the session, a writer and the arbiter, driven by a shell script.
func TestAShellScriptHostsARun(t *testing.T) {
	l := shellLab(t, "")
	e := l.hosts("sh", filepath.Join(l.dir, "host.sh")).wants(0).sound()
	for _, job := range []string{"ask", "look"} {
		e.handedIn(job, "me", job+" is answered by the shell")
	}
	if patch := e.text("write/changes.patch"); !strings.Contains(patch, "+made") {
		t.Errorf("the patch of the writer:\n%s", patch)
	}
	if !strings.Contains(e.text("look/prompt.md"), "ask is answered by the shell") {
		t.Error("what the first job said is not in the prompt of the last")
	}
}

// The engine is killed while an agent works and while the session has a job: what the
// session hands in is taken in, the agent is the same as before, and the run ends by
// itself.
func TestTheEngineIsKilledWhileTheSessionHasAJob(t *testing.T) {
	l := shellLab(t, held)
	h := l.openHouse()
	said := h.start("run", "jobs.yaml", "--agents", "agents.json", "--detach").end("").wants(0).stderr
	dir := runLine.FindStringSubmatch(said)[1]
	run := id(dir)
	request := h.start("next", run, "--wait", "50s", "--json").end(dir).wants(0).request()
	<-l.asked
	agent := h.locks(dir, "write")["write"].Program
	h.killEngine(dir)

	submit := h.start("submit", run, request.Job, "--attempt", request.Attempt, "--result", quoted(filepath.Join(l.dir, "agents.json")), "--agent", "me").end(dir).wants(0)
	if agent.Fate() != process.Alive {
		t.Error("the agent that worked was ended with the engine")
	}
	l.release()
	request = h.start("next", run, "--wait", "50s", "--json").end(dir).wants(0).request()
	h.start("submit", run, request.Job, "--attempt", request.Attempt, "--result", quoted(filepath.Join(l.dir, "agents.json")), "--agent", "me").end(dir).wants(0)
	e := h.start("wait", run).end(dir).wants(0).sound()
	for _, job := range []string{"ask", "look"} {
		e.handedIn(job, "me", "Answers any question.")
	}
	if s := e.status("write"); s.Attempts != 1 || s.Status != ledger.Success {
		t.Errorf("the writer: %+v\n%s", s, submit.stderr)
	}
}
