//go:build e2e && linux

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
)

// plannedSpec is what the planner comes to, at the second attempt: the first has no prompt
// for one job, an unknown task and a job that waits for none that there is.
const plannedSpec = "```yaml\n" + `version: 1
outcome: what the two files hold is known and compared
jobs:
  - {id: one, task: scout, effect: observe, prompt: Say what one.txt holds., expected_output: a word, timeout: 2m}
  - {id: two, task: scout, effect: observe, prompt: Say what two.txt holds., expected_output: a word, timeout: 2m}
  - {id: both, task: synthesis, effect: observe, depends_on: [one, two], prompt: Compare what was found., expected_output: a sentence, timeout: 2m}
` + "```\n"

const brokenSpec = "```yaml\n" + `version: 1
outcome: what the two files hold is known and compared
jobs:
  - {id: one, task: scout, effect: observe, expected_output: a word, timeout: 2m}
  - {id: two, task: guess, effect: observe, prompt: Say what two.txt holds., expected_output: a word, timeout: 2m}
  - {id: both, task: synthesis, effect: observe, depends_on: [three], prompt: Compare what was found., expected_output: a sentence, timeout: 2m}
` + "```\n"

const plansScenario = `
rules:
  - {name: arbiter, contains: You are the arbiter of a finished run, do: [{verdict: {}}]}
  - {name: beside, tools: false, contains: nothing that a planner is asked, do: [{text: a title}]}
  - {name: planner repairs, contains: Your answer before did not hold, do: [{text: PLANNED}]}
  - {name: planner, contains: You plan work for an engine, do: [{text: BROKEN}]}
  - {name: job, do: [{text: "first, second"}]}
`

// A person asks in words. The real agent plans without writing anything, is shown what was
// wrong with its first spec, and the second is kept and shown; with --yes it is run.
func TestARequestInWords(t *testing.T) {
	indent := strings.NewReplacer("\n", `\n`, `"`, `\"`)
	scenario := strings.NewReplacer("PLANNED", `"`+indent.Replace(plannedSpec)+`"`, "BROKEN", `"`+indent.Replace(brokenSpec)+`"`).Replace(plansScenario)
	for _, a := range []agent{claude(), codex()} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			l := newAgentLab(t, scenario, nil, a)
			l.vouch()
			l.repository("one.txt", "first\n", "two.txt", "second\n")
			const request = "say what one.txt and two.txt hold and compare them"

			kept := l.orchestrate(request).wants(3)
			for _, text := range []string{"one ", "two ", "both ", a.name} {
				if !strings.Contains(kept.stdout, text) {
					t.Errorf("%q is not in what is shown:\n%s%s", text, kept.stdout, kept.stderr)
				}
			}
			if n := answered(l.sim.Requests()); n["job"] > 0 || n["planner"] == 0 || n["planner repairs"] == 0 {
				t.Errorf("asked: %v\n%s", n, l.asks())
			}
			specs, err := filepath.Glob(filepath.Join(l.dir, "plans", "reports", "orchestrate-*", ledger.DraftDir, ledger.RequestMDFile))
			ok(t, err)
			if len(specs) != 1 {
				t.Fatalf("%d requests are kept", len(specs))
			}

			e := l.orchestrate("run", filepath.Join(filepath.Dir(specs[0]), ledger.SpecFile)).wants(0).sound()
			if j := e.verdict(); j.Verdict != "pass" || len(j.Jobs) != 3 {
				t.Errorf("verdict %q of %d jobs: %q", j.Verdict, len(j.Jobs), j.Why)
			}
		})
	}
}
