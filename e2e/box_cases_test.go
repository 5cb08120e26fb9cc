//go:build e2e && linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/modelsim"
	"orchestrate/internal/runtime"
)

const boxedCases = `
version: 1
concurrency: 1
arbiter: {mode: checks-only}
defaults: {runtime: claude, expected_output: what was asked for}
jobs:
  - {id: long, task: scout, prompt_file: long.txt, timeout: 2m}
  - id: hang
    task: docs
    effect: scoped-write
    isolation: worktree
    allowed_tools: [Read, Write, Bash]
    prompt: Run a long command.
    timeout: 12s
`

// In the sandbox too: a prompt of 200 KB arrives whole, the variables of a session that
// hosts this one say nothing to an agent, and a process that a tool put into a session of
// its own is found and ended.
func TestWhatHoldsOfAnAgentHoldsInTheBox(t *testing.T) {
	t.Parallel()
	l := newAgentLab(t, fmt.Sprintf(`
rules:
  - {name: beside, tools: false, do: [{text: a few words}]}
  - {contains: Run a long command., turn: 0, do: [{shell: %q}]}
  - {contains: Run a long command., do: [{hang: true}]}
  - {turn: 0, do: [{text: it is long}]}
`, longCommand), nil, claude())
	l.vouch()
	l.repository()
	l.set("CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_SSE_PORT=1")
	long := "begin\n" + strings.Repeat("A line of a long prompt.\n", 8192) + "end of it"
	l.file("long.txt", long)
	e := l.spec(boxedCases).wants(1)
	if s := e.status("long"); s.Status != ledger.Success || s.Route.Sandbox != "landlock" {
		t.Errorf("%s, %s: %s; held by %q", s.Status, s.Reason, s.ReasonEvidence, s.Route.Sandbox)
	}
	if !slices.ContainsFunc(l.sim.Requests(), func(r modelsim.Request) bool { return asks(r, long) }) {
		t.Errorf("the prompt of %d bytes did not arrive", len(long))
	}
	s := e.status("hang")
	if s.Reason != runtime.ReasonTimeout || s.Proof == nil || !s.Proof.Gone || s.Route.Sandbox != "landlock" {
		t.Errorf("%s, %s: %s; held by %q, proof %+v", s.Status, s.Reason, s.ReasonEvidence, s.Route.Sandbox, s.Proof)
	}
	for _, lock := range []string{"held.a", "held.b", "held.c"} {
		path := filepath.Join(e.run, *s.Worktree, lock)
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("the shell did not run: %v", err)
		}
		l.command("", "flock", "-n", path, "true")
	}
}

// A writer in the shared checkout can change what it owns there, and nothing else of it.
func TestTheSharedCheckoutIsHeld(t *testing.T) {
	t.Parallel()
	l := newAgentLab(t, `
rules:
  - {name: beside, tools: false, do: [{text: a few words}]}
  - {turn: 0, do: [{shell: "sh attempts.sh"}]}
  - {do: [{text: it is done}]}
`, nil, claude())
	l.vouch()
	l.repository("notes.txt", "notes\n", "src/a.txt", "a\n", "attempts.sh", `
echo x >src/made.txt
echo x >notes.txt
echo x >other.txt
echo x >.git/hooks/pre-commit
ln -s ../notes.txt src/way && echo x >src/way
mv src/made.txt made.txt
true
`)
	e := l.run(`
version: 1
arbiter: {mode: checks-only}
jobs:
  - id: write
    runtime: claude
    task: docs
    effect: scoped-write
    owned_paths: ["src/**"]
    outputs: [{path: src/made.txt}]
    allowed_tools: [Read, Write, Bash]
    prompt: Make a file.
    expected_output: the file
    checks: ["test -f src/made.txt", "! echo x >notes.txt"]
    timeout: 2m
`).wants(0)
	if s := e.status("write"); s.Worktree != nil || s.Route.Sandbox != "landlock" {
		t.Errorf("in %v, held by %q", s.Worktree, s.Route.Sandbox)
	}
	if got, want := e.changes(), "?? src/made.txt\n?? src/way\n"; got != want {
		t.Errorf("the checkout:\n%swant:\n%s", got, want)
	}
	if _, err := os.Stat(filepath.Join(l.dir, ".git/hooks/pre-commit")); err == nil {
		t.Error("there is a hook")
	}
}
