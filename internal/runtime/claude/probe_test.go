package claude_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/claude"
	"orchestrate/internal/runtime/probe/probetest"
)

const signedIn = `{"loggedIn": true,"authMethod": "api_key","apiProvider": "firstParty","apiKeySource": "ANTHROPIC_API_KEY"}`

// machine is one on which claude is installed and signed in.
func machine(t *testing.T) *probetest.Host {
	t.Helper()
	return &probetest.Host{Answers: map[string]runtime.Answer{
		"--version":   probetest.Says("2.1.197 (Claude Code)\n"),
		"--help":      probetest.Says(file(t, "testdata/probe/help.txt")),
		"auth status": probetest.Says(signedIn),
		"--max-turns": {ExitCode: 1, Stderr: []byte("error: unknown option '--orchestrate-asks'\n")},
		"--print":     probetest.Says(file(t, "testdata/probe/initialize.json")),
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

// A limit of turns is used where help shows it, or the program itself says that it takes
// the flag, which some versions hide.
func TestALimitOfTurnsIsTakenByWhatIsSeen(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*probetest.Host)
		want   bool
	}{
		"hidden":          {func(*probetest.Host) {}, true},
		"in help":         {set("--help", probetest.Says(file(t, "testdata/probe/help.txt")+"\n  --max-turns <n>  Most turns\n")), true},
		"not known":       {set("--max-turns", runtime.Answer{ExitCode: 1, Stderr: []byte("error: unknown option '--max-turns=1'\n")}), false},
		"anything goes":   {set("--max-turns", probetest.Says("ok")), false},
		"it says no word": {set("--max-turns", runtime.Answer{TimedOut: true}), false},
	} {
		h := machine(t)
		c.change(h)
		p := claude.New().Probe(context.Background(), h)
		cmd, err := claude.New().Command(runtime.Request{Access: runtime.AccessRead, MaxTurns: 7}, p)
		if got := slices.Contains(cmd.Argv, "--max-turns=7"); err != nil || got != c.want || (cmd.MaxTurns == 7) != c.want || p.State != runtime.StateAvailable {
			t.Errorf("%s: %q, says %d, %s, %v", name, cmd.Argv, cmd.MaxTurns, p.State, err)
		}
	}
}

func TestProbeOfAWorkingProgram(t *testing.T) {
	host := machine(t)
	p := claude.New().Probe(context.Background(), host)
	if p.State != runtime.StateAvailable || p.Version != "2.1.197" || p.Reason != "" {
		t.Fatalf("state %q, version %q, reason %q, limits %v", p.State, p.Version, p.Reason, p.Limits)
	}
	if p.SignedIn == nil || !*p.SignedIn || p.Family != "anthropic" {
		t.Errorf("signed in %v, family %q", p.SignedIn, p.Family)
	}
	m, ok := p.ModelNamed(p.DefaultModel)
	if !ok || !m.Default || len(m.Efforts) == 0 {
		t.Errorf("default model %q is %+v in %+v", p.DefaultModel, m, p.Models)
	}
	if len(p.Agents) == 0 || len(p.Evidence) != 5 {
		t.Errorf("%d agents, %d pieces of evidence", len(p.Agents), len(p.Evidence))
	}
	for _, name := range []runtime.ControlName{
		runtime.ControlReadOnly, runtime.ControlEditsOnly, runtime.ControlToolLimits, runtime.ControlNoProject,
		runtime.ControlModel, runtime.ControlEffort, runtime.ControlAgent, runtime.ControlAnswerForm,
	} {
		if !p.Has(name) {
			t.Errorf("control %q is not verified", name)
		}
	}
	if p.Has(runtime.ControlOSSandbox) {
		t.Error("claude has no sandbox of the kernel's")
	}
	for _, q := range host.Asked {
		if !strings.Contains(strings.Join(q.Env, " "), "DISABLE_AUTOUPDATER=1") {
			t.Errorf("asked %v with updates on", q.Argv)
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
		{"stranger", set("--version", probetest.Says("claude 1.0\n")), runtime.StateUnverified, "does not say that it is claude", "--version"},
		{"slow", set("--help", runtime.Answer{TimedOut: true}), runtime.StateUnverified, "time limit", "claude --help"},
		{"old", set("--help", probetest.Says("  -p, --print  Print\n")), runtime.StateUnavailable, "does not show --output-format", "update it"},
		{
			"signed out", set("auth status", runtime.Answer{ExitCode: 1, Stdout: []byte(`{"loggedIn": false,"authMethod": "none"}`)}),
			runtime.StateUnavailable, "not signed in", "claude auth login",
		},
		{"status in another form", set("auth status", probetest.Says("yes")), runtime.StateUnverified, "not understood", "claude auth status"},
		{"status without the answer", set("auth status", probetest.Says(`{"x":1}`)), runtime.StateUnverified, "not understood", "claude auth status"},
		{
			"signed in by settings only", set("--print", probetest.Says(`{"response":{"response":{"models":[{"value":"default"}],"account":{"tokenSource":"none"}}}}`)),
			runtime.StateUnverified, "only through its settings", "claude auth login",
		},
		{"says nothing of itself", set("--print", probetest.Says("")), runtime.StateConstrained, "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			host := machine(t)
			c.change(host)
			p := claude.New().Probe(context.Background(), host)
			if p.State != c.state || !strings.Contains(p.Reason, c.reason) || !strings.Contains(p.NextStep, c.next) {
				t.Errorf("state %q, reason %q, next step %q", p.State, p.Reason, p.NextStep)
			}
			if !p.Routable() && (p.Reason == "" || p.NextStep == "") {
				t.Error("not routable, without a reason and a next step")
			}
			if strings.Contains(p.NextStep, "://") {
				t.Errorf("the next step names a host: %q", p.NextStep)
			}
		})
	}
}

func set(question string, answer runtime.Answer) func(*probetest.Host) {
	return func(h *probetest.Host) { h.Answers[question] = answer }
}

func TestFamilyIsNamedOnlyForTheMakersOwnService(t *testing.T) {
	cases := []struct {
		name   string
		change func(*probetest.Host)
		want   string
	}{
		{"own", func(*probetest.Host) {}, "anthropic"},
		{"base URL", func(h *probetest.Host) { h.Env = map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"} }, ""},
		{"another provider", func(h *probetest.Host) { h.Env = map[string]string{"CLAUDE_CODE_USE_BEDROCK": "1"} }, ""},
		{"status says so", set("auth status", probetest.Says(`{"loggedIn":true,"apiProvider":"bedrock"}`)), ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			host := machine(t)
			c.change(host)
			p := claude.New().Probe(context.Background(), host)
			if p.Family != c.want || p.FamilySource == "" {
				t.Errorf("family %q from %q, want %q", p.Family, p.FamilySource, c.want)
			}
		})
	}
}

// The account's particulars stay out of the profile.
func TestSignInEvidenceNamesNoPerson(t *testing.T) {
	host := machine(t)
	host.Answers["auth status"] = probetest.Says(`{"loggedIn":true,"authMethod":"claude.ai","apiProvider":"firstParty","email":"someone@example.org"}`)
	for _, e := range claude.New().Probe(context.Background(), host).Evidence {
		if strings.Contains(e.Answer, "someone@") {
			t.Errorf("evidence of %q tells who is signed in", e.Asked)
		}
	}
}
