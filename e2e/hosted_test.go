//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/handoff"
	"orchestrate/internal/ledger"
)

// hostedGraph has a job for the hosting session's own agent and one that needs none.
const hostedGraph = `
version: 1
outcome: the notes are compared and counted
concurrency: 2
defaults: {timeout: 2m, expected_output: a sentence}
arbiter: {runtime: ARBITER}
jobs:
  - {id: compare, runtime: internal, task: scout, prompt: Compare the two notes.}
  - {id: count, runtime: exec, effect: observe, command: [wc, -l, one.txt, two.txt]}
`

// Rules for those whom the session does not play: the arbiter's prompt holds the texts
// of all jobs, so that it comes first. What an agent asks beside its work has no tools.
const hostedOthers = `
  - {name: arbiter, contains: You are the arbiter of a finished run, do: [{verdict: {}}]}
  - {name: beside, tools: false, do: [{text: a title}]}
`

// asHost begins what the person asks of the session that hosts the run.
const asHost = "Host the run of jobs.yaml"

// hostedLab has agents whose sessions can call the program by its name, a spec and the
// files that its jobs are about.
func hostedLab(t *testing.T, scenario, arbiter string, all ...agent) *lab {
	t.Helper()
	t.Parallel()
	l := newAgentLab(t, scenario, nil, all...)
	l.installProgram()
	l.vouch()
	l.repository(
		"jobs.yaml", strings.Replace(hostedGraph, "ARBITER", arbiter, 1),
		"one.txt", "first\n", "two.txt", "second\n",
	)
	return l
}

// installProgram puts the program, and its supervisor, where sessions find them.
func (l *lab) installProgram() {
	l.t.Helper()
	for _, name := range []string{"orchestrate", "orchestrate-supervise"} {
		ok(l.t, os.Symlink(filepath.Join(filepath.Dir(l.program()), name), filepath.Join(l.bin, name)))
	}
}

// hosts runs a session and finds the run that it started; neither the session nor the
// run may leave a process.
func (l *lab) hosts(argv ...string) *ended {
	l.t.Helper()
	e, left := l.watched(argv)
	for _, process := range left {
		l.t.Errorf("the session %q left a process: %s", argv, process)
	}
	if e.run = l.onlyRun(); e.run == "" {
		l.t.Fatalf("the session, exit status %d, started no run or several\n%s%s\n%s", e.exit, e.stdout, e.stderr, l.asks())
	}
	return e
}

// onlyRun is the directory of the one run that there is, "" if there is not one.
func (l *lab) onlyRun() string {
	l.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(l.dir, "plans", "reports", "orchestrate-2*"))
	ok(l.t, err)
	if len(dirs) != 1 {
		return ""
	}
	return dirs[0]
}

// asks tells what the model was asked, for a test that failed: of each question the last
// tool's result.
func (l *lab) asks() string {
	var b strings.Builder
	for _, r := range l.sim.Requests() {
		if r.API == "" {
			continue
		}
		last := ""
		if n := len(r.Results); n > 0 {
			last = r.Results[n-1]
		}
		fmt.Fprintf(&b, "%s %s: %.1500s\n", r.Rule, r.Error, last)
	}
	return b.String()
}

// handedIn: the job was done by the session's agent, stands in the ledger as any other,
// and nothing is claimed of it that nobody can prove.
func (e *ended) handedIn(job, agent, text string) {
	e.t.Helper()
	s := e.status(job)
	if s.Status != ledger.Success || s.Runtime != handoff.Runtime || s.Agent != agent || s.Attempts != 1 || s.ExitCode != nil {
		e.t.Errorf("job %s: %+v", job, s)
	}
	if s.Proof == nil || s.Proof.Level != "stated" || s.SessionID != "" {
		e.t.Errorf("job %s claims more than the session said: proof %+v, session %q", job, s.Proof, s.SessionID)
	}
	if got := e.text(ledger.JobPath(job, ledger.OutputFile)); !strings.Contains(got, text) {
		e.t.Errorf("job %s: the answer is %q", job, got)
	}
	if j := e.verdict(); j.Verdict != "pass" {
		e.t.Errorf("verdict %q: %q", j.Verdict, j.Why)
	}
}

// request is the job that `next --json` handed out.
func (e *ended) request() handoff.Request {
	e.t.Helper()
	var given struct{ Request *handoff.Request }
	ok(e.t, json.Unmarshal([]byte(e.stdout), &given))
	if given.Request == nil {
		e.t.Fatalf("no job was handed out:\n%s%s", e.stdout, e.stderr)
	}
	return *given.Request
}

// keepTranscript writes what a session printed as a sample, if TRANSCRIPTS is set: without
// the paths of this machine, the lists of what the session could do, and what its program
// says twice or only for itself.
func (e *ended) keepTranscript(name string) {
	e.t.Helper()
	if os.Getenv("TRANSCRIPTS") == "" {
		return
	}
	var out strings.Builder
	for line := range strings.Lines(e.stdout) {
		var event map[string]any
		ok(e.t, json.Unmarshal([]byte(line), &event))
		if event["subtype"] == "init" {
			maps.DeleteFunc(event, func(key string, _ any) bool { return !slices.Contains(ofInit, key) })
		}
		maps.DeleteFunc(event, func(key string, _ any) bool { return slices.Contains(forItself, key) })
		data, err := json.Marshal(event)
		ok(e.t, err)
		out.Write(append(data, '\n'))
	}
	text := strings.NewReplacer(marketplace(e.t), "/marketplace", e.base, "/lab").Replace(out.String())
	for _, key := range e.keys {
		text = strings.ReplaceAll(text, key, "KEY")
	}
	path := filepath.Join("testdata", "transcripts", name+".jsonl")
	ok(e.t, os.MkdirAll(filepath.Dir(path), 0o755))
	ok(e.t, os.WriteFile(path, []byte(text), 0o644))
}

var (
	ofInit    = []string{"type", "subtype", "mcp_servers", "plugins", "claude_code_version"}
	forItself = []string{"uuid", "session_id", "tool_use_result", "modelUsage"}
)
