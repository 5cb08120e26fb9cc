//go:build e2e && linux

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// looker may look at the shared checkout, by a shell too.
const looker = `
version: 1
arbiter: {mode: checks-only}
jobs:
  - id: look
    runtime: claude
    task: scout
    allowed_tools: [Read, Bash]
    prompt: Look at notes.txt.
    expected_output: what it says
    timeout: 2m
`

const lookerScenario = `
rules:
  - {name: beside, tools: false, do: [{text: a few words}]}
  - {name: look, turn: 0, do: [{shell: %q}]}
  - {do: [{text: it says something}]}
`

// boxOff switches the sandbox off, as the operator.
func (l *lab) boxOff() {
	l.t.Helper()
	l.file("home/.config/orchestrate/config.yaml", "sandbox: {off: true}\nruntimes: {claude: {capability: C3}}\n")
}

// run is spec for a run during which the main checkout changes.
func (l *lab) run(text string) *ended {
	l.t.Helper()
	l.file("jobs.yaml", text)
	return l.orchestrate("run", filepath.Join(l.base, "jobs.yaml"))
}

// With nothing that holds it, a job that was to look and wrote has failed, and what it
// wrote is kept. In the sandbox it writes nothing and succeeds.
func TestAnObserverThatWrites(t *testing.T) {
	scenario := fmt.Sprintf(lookerScenario, `sed -i s/one/two/ notes.txt; echo x >made.txt; true`)
	t.Run("without a sandbox", func(t *testing.T) {
		t.Parallel()
		l := newAgentLab(t, scenario, nil, claude())
		l.repository("notes.txt", "one\n")
		l.boxOff()
		e := l.run(looker).wants(1)
		if s := e.status("look"); s.Status != ledger.Failed || s.Reason != runtime.ReasonWroteObserving || !strings.Contains(s.ReasonEvidence.Unshown(), "notes.txt") {
			t.Errorf("%s, %s: %s", s.Status, s.Reason, s.ReasonEvidence)
		}
		if patch := e.text("look/changes.patch"); !strings.Contains(patch, "-one\n+two\n") || !strings.Contains(patch, "made.txt") {
			t.Errorf("the patch:\n%s", patch)
		}
	})
	t.Run("in the sandbox", func(t *testing.T) {
		t.Parallel()
		l := newAgentLab(t, scenario, nil, claude())
		l.repository("notes.txt", "one\n")
		l.vouch()
		e := l.spec(looker).wants(0) // the checkout is as it was
		if len(e.boundaries("look")) == 0 {
			t.Error("no event says that it was refused")
		}
	})
}

// personScenario keeps an agent waiting for its model, which then lets it read.
const personScenario = `
rules:
  - {name: ` + held + `look, turn: 0, do: [{read: notes.txt}]}
  - {do: [{text: it says something}]}
`

// A person goes on working in their checkout while a job looks at it: no job fails by
// that, and the report says what changed.
func TestAPersonWorksDuringARun(t *testing.T) {
	for name, setUp := range map[string]func(l *lab){"in the sandbox": (*lab).vouch, "without a sandbox": (*lab).boxOff} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newAgentLab(t, personScenario, nil, claude())
			l.repository("notes.txt", "one\n", "mine.txt", "mine\n")
			setUp(l)
			l.file("jobs.yaml", strings.Replace(looker, "[Read, Bash]", "[Read]", 1))
			h := l.openHouse()
			run := h.start("run", quoted(filepath.Join(l.base, "jobs.yaml")))
			dir := run.begun()
			run.meanwhile("a call of the model", func() bool { return answered(l.sim.Requests())[held+"look"] > 0 })
			ok(t, os.WriteFile(filepath.Join(l.dir, "mine.txt"), []byte("mine, and more\n"), 0o600))
			l.release()
			e := run.end(dir).wants(0)
			if s := e.status("look"); s.Status != ledger.Success {
				t.Errorf("%s, %s: %s", s.Status, s.Reason, s.ReasonEvidence)
			}
			if report := e.text(ledger.ReportFile); !strings.Contains(report, "mine.txt") {
				t.Errorf("the report does not say what changed:\n%s", report)
			}
		})
	}
}

// An agent rewrites the check that judges it. What was rewritten runs with the rights of
// the job that it judges, and not with those of the person.
func TestARewrittenCheckTouchesNoHome(t *testing.T) {
	t.Parallel()
	l := newAgentLab(t, `
rules:
  - {turn: 0, do: [{read: check.sh}]}
  - {turn: 1, do: [{write: {path: check.sh, content: "rm -rf \"$HOME/x\"; echo x >\"$HOME/made\"; ls \"$HOME/x\"\n"}}]}
  - {do: [{text: it is done}]}
`, nil, claude())
	l.file("home/x/precious", "precious\n")
	l.repository("check.sh", "true\n")
	l.vouch()
	e := l.spec(strings.ReplaceAll(oneWriter("claude", `checks: ["sh check.sh"]`), "made.txt", "check.sh"))
	for _, path := range []string{"home/x/precious", "home/.config/orchestrate/config.yaml"} {
		if _, err := os.Stat(filepath.Join(l.base, path)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(l.base, "home/made")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("home/made: %v", err)
	}
	for _, file := range []string{"write/checks/1.out", "write/checks/1.err"} {
		t.Logf("%s: %s", file, e.text(file))
	}
	if said := e.text("write/checks/1.err"); !refusedByKernel(said) || !strings.Contains(e.text("write/checks/1.out"), "precious") {
		t.Errorf("the check said: %s", said)
	}
	if patch := e.text("write/changes.patch"); !strings.Contains(patch, "rm -rf") {
		t.Errorf("the rewritten check is not in the patch:\n%s", patch)
	}
}
