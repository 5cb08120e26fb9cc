package qwen_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe/probetest"
	"orchestrate/internal/runtime/qwen"
)

// machine is one on which qwen is installed and signed in.
func machine(t *testing.T) *probetest.Host {
	t.Helper()
	return &probetest.Host{Answers: map[string]runtime.Answer{
		"--version":         probetest.Says("0.24.4\n"),
		"--help":            probetest.Says(file(t, "testdata/probe/help.txt")),
		"--safe-mode --acp": probetest.Says(file(t, "testdata/probe/session.jsonl")),
	}}
}

func file(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestProbeOfAWorkingProgram(t *testing.T) {
	host := machine(t)
	p := qwen.New().Probe(context.Background(), host)
	if p.State != runtime.StateConstrained || p.Version != "0.24.4" || p.Reason != "" {
		t.Fatalf("state %q, version %q, reason %q, limits %v", p.State, p.Version, p.Reason, p.Limits)
	}
	if len(p.Limits) != 2 {
		t.Errorf("limits %v, want edits and the project's settings", p.Limits)
	}
	if p.SignedIn == nil || !*p.SignedIn || p.SignInMethod != "openai" || p.Family != "" || p.FamilySource == "" {
		t.Errorf("signed in %v by %q, family %q from %q", p.SignedIn, p.SignInMethod, p.Family, p.FamilySource)
	}
	m, ok := p.ModelNamed(p.DefaultModel)
	if !ok || !m.Default || p.DefaultModel != "fake-1" || !p.ModelsPartial {
		t.Errorf("default model %q is %+v in %+v, partial %t", p.DefaultModel, m, p.Models, p.ModelsPartial)
	}
	if len(p.Evidence) != 3 {
		t.Errorf("%d pieces of evidence", len(p.Evidence))
	}
	for _, name := range []runtime.ControlName{runtime.ControlReadOnly, runtime.ControlToolLimits, runtime.ControlModel, runtime.ControlAnswerForm} {
		if !p.Has(name) || p.EvidenceOf(name) == "" {
			t.Errorf("control %q is not verified", name)
		}
	}
	for _, name := range []runtime.ControlName{
		runtime.ControlEditsOnly, runtime.ControlNoProject, runtime.ControlOSSandbox, runtime.ControlEffort, runtime.ControlAgent,
	} {
		if p.Has(name) || p.EvidenceOf(name) == "" {
			t.Errorf("control %q is claimed, or not without a reason", name)
		}
	}
	for _, q := range host.Asked {
		if !strings.Contains(strings.Join(q.Env, " "), "QWEN_TELEMETRY_ENABLED=false") {
			t.Errorf("asked %v with telemetry on", q.Argv)
		}
	}
}

func TestProbeOfWhatDoesNotWork(t *testing.T) {
	cases := []struct {
		name   string
		change func(*probetest.Host)
		state  runtime.State
		reason string
		next   string
	}{
		{"missing", func(h *probetest.Host) { h.Missing = true }, runtime.StateUnavailable, "no executable", "npm install -g"},
		{"stranger by its version", set("--version", probetest.Says("qwen 1.0\n")), runtime.StateUnverified, "does not say that it is qwen", "--version"},
		{"stranger by its help", set("--help", probetest.Says("usage: qwen FILE\n")), runtime.StateUnverified, "does not say that it is Qwen Code", "first on PATH"},
		{"slow", set("--help", runtime.Answer{TimedOut: true}), runtime.StateUnverified, "time limit", "qwen --help"},
		{"old", set("--help", probetest.Says("Qwen Code\n  -m, --model  Model\n")), runtime.StateUnavailable, "does not show --output-format", "update it"},
		{"without the safe mode", func(h *probetest.Host) { h.Answers["--help"] = lacking(t, "--safe-mode").Answers["--help"] }, runtime.StateUnavailable, "does not show --safe-mode", "Node.js"},
		{
			"signed out", session(probetest.Says(`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Authentication required"}}`)),
			runtime.StateUnavailable, "not signed in", "OPENAI_API_KEY",
		},
		{"another error", session(probetest.Says(`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"x"}}`)), runtime.StateUnverified, "not known", "run `qwen`"},
		{"says nothing", session(probetest.Says("")), runtime.StateUnverified, "did not answer", "run `qwen`"},
		{"hangs", session(runtime.Answer{TimedOut: true}), runtime.StateUnverified, "time limit", "run `qwen`"},
		{"no list", session(probetest.Says(`{"id":2,"result":{"sessionId":"s"}}`)), runtime.StateConstrained, "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			host := machine(t)
			c.change(host)
			p := qwen.New().Probe(context.Background(), host)
			if p.State != c.state || !strings.Contains(p.Reason, c.reason) || !strings.Contains(p.NextStep, c.next) {
				t.Errorf("state %q, reason %q, next step %q", p.State, p.Reason, p.NextStep)
			}
			if !p.Routable() && (p.Reason == "" || p.NextStep == "") {
				t.Error("not routable, without a reason and a next step")
			}
		})
	}
}

func set(question string, answer runtime.Answer) func(*probetest.Host) {
	return func(h *probetest.Host) { h.Answers[question] = answer }
}

func session(answer runtime.Answer) func(*probetest.Host) { return set("--safe-mode --acp", answer) }

// What the program said when it was signed out, as recorded.
func TestRecordedSignedOut(t *testing.T) {
	host := machine(t)
	session(probetest.Says(file(t, "testdata/probe/signedout.jsonl")))(host)
	p := qwen.New().Probe(context.Background(), host)
	if p.SignedIn == nil || *p.SignedIn || p.State != runtime.StateUnavailable {
		t.Errorf("signed in %v, state %q", p.SignedIn, p.State)
	}
}

func TestModelsUnderTheNamesOfTheFlag(t *testing.T) {
	host := machine(t)
	session(probetest.Says(`{"id":2,"result":{"models":{"currentModelId":"big(own)","availableModels":[` +
		`{"modelId":"big(own)"},{"modelId":"$runtime|own|a (b)(own)"},{"modelId":"x(openai)"},{"modelId":"a (b)(own)"},{"modelId":"odd"}]}}}`))(host)
	p := qwen.New().Probe(context.Background(), host)
	var names []string
	for _, m := range p.Models {
		names = append(names, m.ID)
	}
	if got := strings.Join(names, "|"); got != "big|a (b)" || p.DefaultModel != "big" || p.SignInMethod != "own" {
		t.Errorf("models %q, default %q, sign-in %q", got, p.DefaultModel, p.SignInMethod)
	}
}

// The folder in which the session is asked for is gone afterwards.
func TestSessionFolderIsRemoved(t *testing.T) {
	host := machine(t)
	qwen.New().Probe(context.Background(), host)
	last := string(host.Asked[len(host.Asked)-1].Stdin)
	_, rest, _ := strings.Cut(last, `"cwd":"`)
	dir, _, ok := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("no folder in %s", last)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", dir, err)
	}
}
