//go:build e2e && linux

package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// The agents that are described by data.

func cline() agent {
	return agent{
		name: "cline", pkg: "cline",
		setup: func(l *lab) {
			l.command("", filepath.Join(l.bin, "cline"), "auth", "-p", "openai", "-k", l.key("sk-made-up-"), "-m", "made-up-model", "-b", l.sim.URL("cline")+"/v1")
		},
		rash:   true,
		doctor: verdict{state: runtime.StateConstrained, signedIn: "unknown", controls: "model effort"},
		does: map[string]outcome{
			"answer": {events: "model usage answer completed"},
			// It works on when the kernel refuses it a file outside.
			"write":         {events: "model usage answer completed"},
			"refused":       {status: ledger.Success, events: "model usage answer completed"},
			"unknown-model": {why: "The model `no-such-model` does not exist"},
			"unauthorized":  {why: "Incorrect API key provided."},
			"resumed":       {status: ledger.Blocked, why: "cline is described without a way to go on with an earlier session"},
		},
	}
}

func auggie() agent {
	return agent{name: "auggie", pkg: "@augmentcode/auggie", setup: signedOut, doctor: verdict{state: runtime.StateUnavailable, signedIn: "no", why: "nobody is signed in"}}
}

func amp() agent {
	return agent{name: "amp", pkg: "@sourcegraph/amp", setup: signedOut, doctor: verdict{state: runtime.StateUnverified, signedIn: "unknown", why: "AMP_API_KEY is not set"}}
}

// crush is not installed: what npm has of it fetches the program from elsewhere. Where
// this machine has it, it is set up.
func crush() agent {
	a := agent{name: "crush", setup: signedOut, doctor: verdict{state: runtime.StateUnavailable, signedIn: "unknown", why: `no executable named "crush" on PATH`}}
	if _, err := exec.LookPath("crush"); err != nil {
		return a
	}
	a.doctor = verdict{state: runtime.StateConstrained, signedIn: "unknown", models: 1, standard: "…", controls: "…"}
	a.setup = func(l *lab) {
		l.file("home/.config/crush/crush.json", fmt.Sprintf(`{"providers":{"sim":{"type":"openai-compat","base_url":"%s/v1","api_key":"%s",`+
			`"models":[{"id":"made-up-model","name":"made-up-model","context_window":100000,"default_max_tokens":4000}]}},`+
			`"models":{"large":{"provider":"sim","model":"made-up-model"},"small":{"provider":"sim","model":"made-up-model"}}}`,
			l.sim.URL("crush"), l.key("sk-made-up-")))
	}
	return a
}

func signedOut(*lab) {}

// What is not signed in gets no job, whoever asks for it, and it is said what to do.
func TestWhoIsNotSignedInGetsNoJob(t *testing.T) {
	t.Parallel()
	out := []agent{auggie(), amp()}
	steps := []string{"auggie login", "AMP_API_KEY"}
	if c := crush(); c.doctor.state == runtime.StateUnavailable {
		out, steps = append(out, c), append(steps, "npm install -g @charmland/crush")
	}
	l := newAgentLab(t, scenarioFor(agent{}), nil, out...)
	l.repository()
	spec := "version: 1\narbiter: {mode: checks-only}\ndefaults: {task: scout, timeout: 1m, expected_output: an answer}\njobs:\n"
	for _, a := range out {
		spec += fmt.Sprintf("  - {id: %[1]s, runtime: %[1]s, prompt: Say something.}\n", a.name)
	}
	for i, planned := range l.plan(spec).Jobs {
		if b := planned.Blocked; b == nil || b.Reason != runtime.BlockedNoRoute || !strings.Contains(b.Detail, out[i].doctor.why) || !strings.Contains(b.NextStep+b.Detail, steps[i]) {
			t.Errorf("%s: %+v", out[i].name, b)
		}
	}
}

// crush, where this machine has it, answers; since its tools cannot be limited, it
// writes nothing.
func TestCrushWhereItIsInstalled(t *testing.T) {
	c := crush()
	if c.doctor.state == runtime.StateUnavailable {
		t.Log("crush is not on PATH; the doctor's test holds what is said then")
		return
	}
	t.Parallel()
	l := newAgentLab(t, scenarioFor(agent{}), nil, c)
	l.repository()
	e := l.spec("version: 1\narbiter: {mode: checks-only}\ndefaults: {runtime: crush, timeout: 2m, expected_output: an answer}\njobs:\n" +
		"  - id: answer\n    " + observer("Say the word of the day.")(c) + "\n" +
		"  - id: write\n    " + writer("Make the file made.txt.", "made.txt")(c) + "\n")
	t.Logf("on crush %s", e.version(c))
	if s := e.status("answer"); s.Status != ledger.Success || !strings.Contains(e.text("answer/output.md"), "all is done") {
		t.Errorf("%s, %s: %s", s.Status, s.Reason, s.ReasonEvidence)
	}
	if s := e.status("write"); s.Status != ledger.Blocked || s.Reason != runtime.BlockedRiskControls {
		t.Errorf("%s, %s: %s", s.Status, s.Reason, s.ReasonEvidence)
	}
}
