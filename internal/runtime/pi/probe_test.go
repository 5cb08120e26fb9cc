package pi_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/pi"
	"orchestrate/internal/runtime/probe/probetest"
)

// machine is one on which pi is installed and signed in.
func machine(t *testing.T) *probetest.Host {
	t.Helper()
	return &probetest.Host{Answers: map[string]runtime.Answer{
		"--version":                  probetest.Says("1.6.0\n"),
		"--help":                     probetest.Says(file(t, "testdata/probe/help.txt")),
		"--mode rpc":                 probetest.Says(file(t, "testdata/probe/rpc.jsonl")),
		"auth --help":                probetest.Says(file(t, "testdata/probe/auth-help.txt")),
		"auth check --provider fake": probetest.Says(`{"status":"ready","provider":"fake","authType":"api_key"}` + "\n"),
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
	p := pi.New().Probe(context.Background(), host)
	if p.State != runtime.StateConstrained || p.Version != "1.6.0" || p.Reason != "" {
		t.Fatalf("state %q, version %q, reason %q, limits %v", p.State, p.Version, p.Reason, p.Limits)
	}
	if len(p.Limits) != 1 || !strings.Contains(p.Limits[0], "not confined") {
		t.Errorf("limits %v, want that nothing confines its edits", p.Limits)
	}
	if p.SignedIn == nil || !*p.SignedIn || p.SignInMethod != "api_key of provider fake" || p.Family != "" || p.FamilySource == "" {
		t.Errorf("signed in %v by %q, family %q from %q", p.SignedIn, p.SignInMethod, p.Family, p.FamilySource)
	}
	if m, ok := p.ModelNamed(p.DefaultModel); !ok || !m.Default || p.DefaultModel != "fake/fake-1" || p.ModelsPartial || len(p.Models) != 6 {
		t.Errorf("default model %q is %+v in %+v", p.DefaultModel, m, p.Models)
	}
	held := []runtime.ControlName{
		runtime.ControlReadOnly, runtime.ControlToolLimits, runtime.ControlNoProject, runtime.ControlModel, runtime.ControlEffort,
	}
	for _, c := range p.Controls {
		if c.Verified != slices.Contains(held, c.Name) || c.Evidence == "" {
			t.Errorf("control %+v", c)
		}
	}
}

// No question prints a secret, opens a session or lets a project have a say.
func TestProbeOnlyLooks(t *testing.T) {
	host := machine(t)
	pi.New().Probe(context.Background(), host)
	for _, q := range host.Asked {
		words := strings.Join(q.Argv, " ")
		if strings.Contains(words, "print-") || strings.Contains(words, "--credentials") {
			t.Errorf("asked %s", words)
		}
		if strings.Contains(words, "rpc") && (!strings.Contains(words, "--no-session") || !strings.Contains(words, "--no-approve --no-extensions --no-mcp")) {
			t.Errorf("asked %s", words)
		}
		if !slices.Contains(q.Env, "PI_OFFLINE=1") {
			t.Errorf("asked with %v", q.Env)
		}
	}
}

// The levels that each model takes, by what the list says of it.
func TestEffortsOfEachModel(t *testing.T) {
	p := pi.New().Probe(context.Background(), machine(t))
	for name, want := range map[string]string{"fake/fake-1": "", "fake/fake-2": "off low medium high max"} {
		if m, ok := p.ModelNamed(name); !ok || strings.Join(m.Efforts, " ") != want {
			t.Errorf("%s takes %q, want %q", name, m.Efforts, want)
		}
	}
}

func TestProbeStates(t *testing.T) {
	check := "auth check --provider fake"
	cases := []struct {
		name   string
		change func(*probetest.Host)
		state  runtime.State
		reason string
		next   string
	}{
		{"another program named pi", set("--help", probetest.Says("pi: computes digits\n")), runtime.StateUnverified, "does not say that it is the coding agent pi", "first on PATH"},
		{"one that has the same version form and no help", set("--help", probetest.Says("")), runtime.StateUnverified, "does not say that it is", "first on PATH"},
		{"one that moved", old(t), runtime.StateUnavailable, "does not show --no-approve", "@earendil-works/pi-coding-agent"},
		{"no credentials", set("--mode rpc", probetest.Says(
			`{"id":1,"success":true,"data":{"thinkingLevel":"off"}}`+"\n"+`{"id":2,"success":true,"data":{"models":[]}}`)), runtime.StateUnavailable, "not signed in", "/login"},
		{"credentials gone", set(check, runtime.Answer{ExitCode: 1, Stdout: []byte(`{"status":"not_ready","provider":"fake","reason":"credentials_not_configured"}`)}), runtime.StateUnavailable, "credentials_not_configured", "/login"},
		{"credentials unreadable", set(check, runtime.Answer{ExitCode: 2, Stdout: []byte(`{"status":"invalid","reason":"invalid_state"}`)}), runtime.StateUnverified, "not known", "auth check"},
		{"an answer that cannot be read", set(check, probetest.Says("yes")), runtime.StateUnverified, "not known", "auth check"},
		{"a silent RPC mode", set("--mode rpc", probetest.Says("")), runtime.StateUnverified, "not known", "--list-models"},
		{"a failed question", set("--mode rpc", probetest.Says(`{"id":1,"success":false,"error":"x"}`+"\n"+`{"id":2,"success":true}`)), runtime.StateUnverified, "not known", "--list-models"},
		{"no status command", set("auth --help", probetest.Says("Usage:\n  pi auth login\n")), runtime.StateConstrained, "", ""},
		{"no word on a read-only run", func(h *probetest.Host) {
			h.Answers["--help"] = probetest.Says(strings.Replace(file(t, "testdata/probe/help.txt"), "no file modifications possible", "x", 1))
		}, runtime.StateConstrained, "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			host := machine(t)
			c.change(host)
			p := pi.New().Probe(context.Background(), host)
			if p.State != c.state || !strings.Contains(p.Reason, c.reason) || !strings.Contains(p.NextStep, c.next) {
				t.Errorf("state %q, reason %q, next step %q", p.State, p.Reason, p.NextStep)
			}
			if p.Routable() && len(p.Limits) != 2 {
				t.Errorf("limits %v, want what is unknown beside what is not confined", p.Limits)
			}
		})
	}
}

func set(question string, answer runtime.Answer) func(*probetest.Host) {
	return func(h *probetest.Host) { h.Answers[question] = answer }
}

// old is the version before the program changed hands. It prints everything on
// standard error.
func old(t *testing.T) func(*probetest.Host) {
	return func(h *probetest.Host) {
		h.Answers["--version"] = runtime.Answer{Stderr: []byte("0.73.1\n")}
		h.Answers["--help"] = runtime.Answer{Stderr: []byte(file(t, "testdata/probe/help-0.73.txt"))}
	}
}
