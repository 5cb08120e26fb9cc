//go:build e2e && linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// oneWriter is a spec of one job that may write made.txt, and nobody to judge it.
// extra are more fields of the job.
func oneWriter(name string, extra ...string) string {
	return fmt.Sprintf(`
version: 1
arbiter: {mode: checks-only}
jobs:
  - id: write
    runtime: %s
    task: docs
    effect: scoped-write
    isolation: worktree
    owned_paths: [made.txt]
    prompt: Make the file made.txt.
    expected_output: the file made.txt
    timeout: 2m
    %s
`, name, strings.Join(extra, "\n    "))
}

// An agent that was refused a write, went on and ended with exit status 0 has not
// done its job.
func TestARefusedWriteEndsAsPermission(t *testing.T) {
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, `
rules:
  - {turn: 0, do: [{write: {path: ../../../outside.txt, content: "x\n"}}]}
  - {do: [{text: all done}]}
`, nil)
			l.repository()
			e := l.spec(oneWriter(name)).wants(1)
			s := e.status("write")
			if s.Status != ledger.Failed || s.Reason != runtime.ReasonPermission || s.ReasonEvidence.Empty() {
				t.Errorf("%s, %s: %s", s.Status, s.Reason, s.ReasonEvidence)
			}
			if found, err := filepath.Glob(filepath.Join(l.base, "work/plans/reports/*/outside.txt")); err != nil || len(found) > 0 {
				t.Errorf("the write happened: %v, %v", found, err)
			}
		})
	}
}

// What the model service refuses ends the job at once, by its class; the agents
// by themselves would repeat some of it for minutes.
func TestWhatTheServiceRefusesEndsByItsClass(t *testing.T) {
	cases := []struct {
		code   int
		reason runtime.Reason
		calls  int // at most
	}{
		{401, runtime.ReasonAuth, 2},
		{404, runtime.ReasonUnknownModel, 2},
	}
	for _, name := range []string{"claude", "codex"} {
		for _, c := range cases {
			t.Run(fmt.Sprintf("%s %d", name, c.code), func(t *testing.T) {
				l := newLab(t, fmt.Sprintf(`rules: [{do: [{status: {code: %d}}]}]`, c.code), nil)
				l.repository()
				e := l.spec(oneWriter(name)).wants(1)
				s := e.status("write")
				if s.Status != ledger.Failed || s.Reason != c.reason {
					t.Errorf("%s, %s: %s", s.Status, s.Reason, s.ReasonEvidence)
				}
				calls := 0
				for _, r := range l.sim.Requests() {
					if r.API != "" {
						calls++
					}
				}
				if calls > c.calls {
					t.Errorf("the model was called %d times", calls)
				}
				t.Logf("after %d calls in %d ms: %s", calls, s.DurationMs, s.ReasonEvidence)
			})
		}
	}
}

// A job that may be tried again is, after a rate limit that its agent does not sit
// out by itself, and then does its work.
func TestARateLimitIsTriedAgain(t *testing.T) {
	l := newLab(t, `
rules:
  - {times: 1, do: [{status: {code: 429}}]}
  - {turn: 0, do: [{write: {path: made.txt, content: "made\n"}}]}
  - {do: [{text: made.txt is there}]}
`, nil)
	l.repository()
	e := l.spec(oneWriter("codex", "outputs: [{path: made.txt}]", "retry: {max_attempts: 2, backoff: 1s, on: [rate_limit]}")).wants(0)
	if s := e.status("write"); s.Status != ledger.Success || s.Attempts != 2 {
		t.Errorf("%s after %d attempts: %s", s.Status, s.Attempts, s.ReasonEvidence)
	}
	if first := e.text("write/attempt-1/status.json"); !strings.Contains(first, `"rate_limit"`) {
		t.Errorf("the first attempt: %s", first)
	}
}

// A tool's shell, which the agents give a session of its own, does not end, and has
// left a process in yet another session. At the timeout all of it ends: the watcher
// sees nothing left, and the locks that the processes held are free.
func TestAHangEndsAtItsTimeoutWithNothingLeft(t *testing.T) {
	const shell = `flock -n held.a setsid flock -n held.b sleep 600 & flock -n held.c sleep 600`
	for name, extra := range map[string]string{"claude": `allowed_tools: [Read, Write, Bash]`, "codex": ""} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, `rules: [{turn: 0, do: [{shell: "`+shell+`"}]}, {do: [{hang: true}]}]`, nil)
			l.repository()
			text := strings.Replace(oneWriter(name, extra), "timeout: 2m", "timeout: 12s", 1)
			e := l.spec(text).wants(1)
			s := e.status("write")
			if s.Reason != runtime.ReasonTimeout || !s.TimedOut || s.Proof == nil || !s.Proof.Gone {
				t.Errorf("%s, %s: %s, proof %+v", s.Status, s.Reason, s.ReasonEvidence, s.Proof)
			}
			for _, lock := range []string{"held.a", "held.b", "held.c"} {
				path := filepath.Join(e.run, *s.Worktree, lock)
				if _, err := os.Stat(path); err != nil {
					t.Fatalf("the shell did not run: %v", err)
				}
				l.command("", "flock", "-n", path, "true")
			}
		})
	}
}

// An interrupt while the model is silent ends the agent, the run and all that
// belongs to them, and the job is no failure.
func TestAnInterruptEndsTheRunWithNothingLeft(t *testing.T) {
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, `rules: [{do: [{hang: true}]}]`, nil)
			l.repository()
			e := l.spec(oneWriter(name), syscall.SIGINT).wants(130)
			if s := e.status("write"); s.Status != ledger.Interrupted || s.Reason != runtime.ReasonCancelled {
				t.Errorf("%s, %s: %s", s.Status, s.Reason, s.ReasonEvidence)
			}
		})
	}
}

// "Done" without the declared output is a failure, and what depends on it does
// not start.
func TestDoneWithoutItsOutputFailsAndBlocksWhatDepends(t *testing.T) {
	l := newLab(t, `rules: [{do: [{text: done}]}]`, nil)
	l.repository()
	e := l.spec(oneWriter("codex", "outputs: [{path: made.txt}]") + `
  - id: after
    runtime: exec
    effect: observe
    command: ["true"]
    depends_on: [write]
    expected_output: nothing
    timeout: 1m
`).wants(1)
	if s := e.status("write"); s.Reason != runtime.ReasonMissingOutput {
		t.Errorf("%s, %s: %s", s.Status, s.Reason, s.ReasonEvidence)
	}
	if s := e.status("after"); s.Status != ledger.Blocked || s.Reason != runtime.BlockedDependency || !strings.Contains(s.ReasonEvidence.Unshown(), "write") {
		t.Errorf("%s, %s: %s", s.Status, s.Reason, s.ReasonEvidence)
	}
}

const oneScout = `
version: 1
jobs:
  - id: scout
    runtime: claude
    task: scout
    prompt: Read notes.txt.
    expected_output: what it says
    timeout: 2m
`

// Without an arbiter of the highest tier the run says so first and is no pass.
func TestNoArbiterIsSaidBeforeTheRunStarts(t *testing.T) {
	l := newLab(t, `rules: [{do: [{text: it says hello}]}]`, nil)
	l.repository("notes.txt", "hello\n")
	l.file("home/.config/orchestrate/config.yaml", "runtimes: {claude: {capability: C2}, codex: {capability: C2}}\n")
	e := l.spec(oneScout).wants(3)
	before, _, _ := strings.Cut(e.stderr, "started on")
	if !strings.Contains(before, "arbiter") || !strings.Contains(before, "checks-only") || !strings.Contains(before, "rehearse") {
		t.Errorf("said before the first job started:\n%s", before)
	}
	if j := e.verdict(); j.Verdict != "blocked" {
		t.Errorf("verdict %q: %v", j.Verdict, j.Why)
	}
}

// One citation of something that is not there is enough.
func TestOneFalseCitationIsNoPass(t *testing.T) {
	l := newLab(t, `
rules:
  - {contains: You are the arbiter, do: [{verdict: {cite: {scout: "file:scout:notes.txt:99"}}}]}
  - {do: [{text: it says hello}]}
`, nil)
	l.repository("notes.txt", "hello\n")
	e := l.spec(oneScout)
	j := e.verdict()
	if e.exit == 0 || j.Verdict == "pass" || !strings.Contains(strings.Join(j.Why, "\n"), "notes.txt:99") {
		t.Errorf("exit status %d, verdict %q: %v", e.exit, j.Verdict, j.Why)
	}
}
