//go:build e2e && linux

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// firstScenario plays the starter spec for whichever agent gets a job of it.
const firstScenario = `
rules:
  - {contains: You are the arbiter, do: [{verdict: {}}]}
  - {contains: Write CONTRIBUTING.md, turn: 0, do: [{write: {path: CONTRIBUTING.md, content: "Run make.\n"}}]}
  - {do: [{text: "make, says the Makefile"}]}
`

// What a new user types, with a home that holds nothing but the sign-in: with one
// agent or the other all of it works; without any, nothing fails without saying
// what to do next.
func TestTheFirstCommandsOfANewUser(t *testing.T) {
	cases := []struct {
		installed         string // "" = neither
		doctor, plan, run int    // exit statuses
	}{
		{"claude", 0, 0, 0},
		{"codex", 0, 0, 0},
		{"", 1, 3, 3},
	}
	for _, c := range cases {
		t.Run("with "+c.installed, func(t *testing.T) {
			l := newLab(t, firstScenario, nil)
			l.only(c.installed)
			l.repository("Makefile", "all:\n")
			l.orchestrate("init").wants(0)
			doctor := l.orchestrate("doctor").wants(c.doctor)
			plan := l.orchestrate("plan", "jobs.yaml").wants(c.plan)
			l.orchestrate("rehearse", "jobs.yaml").wants(0)
			run := l.orchestrate("run", "jobs.yaml").wants(c.run)
			if c.installed == "" {
				for e, step := range map[*ended]string{doctor: "npm install -g", plan: "`orchestrate doctor` says how", run: "`orchestrate doctor` says how"} {
					if !strings.Contains(e.stdout+e.stderr, step) {
						t.Errorf("no next step in\n%s%s", e.stdout, e.stderr)
					}
				}
				return
			}
			if patch := run.text(filepath.Join("write-guide", "changes.patch")); !strings.Contains(patch, "+Run make.") {
				t.Errorf("patch:\n%s", patch)
			}
			if j := run.verdict(); j.Verdict != "pass" || j.Runtime != c.installed {
				t.Errorf("%+v", j)
			}
			run.ownUserAgents()
		})
	}
}
