package copilot_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/copilot"
	"orchestrate/internal/runtime/probe/probetest"
)

// machine is one on which copilot is installed and signed in, and its user has
// trusted no folder.
func machine(t *testing.T) *probetest.Host {
	t.Helper()
	return &probetest.Host{
		Env: map[string]string{"COPILOT_HOME": t.TempDir()},
		Answers: map[string]runtime.Answer{
			"--version":        probetest.Says("GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.\n"),
			"--help":           probetest.Says(file(t, "testdata/probe/help.txt")),
			"help permissions": probetest.Says(file(t, "testdata/probe/permissions.txt")),
			"--acp":            probetest.Says(file(t, "testdata/probe/session.jsonl")),
		},
	}
}

func file(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// configure writes the program's own file of trusted folders.
func configure(t *testing.T, host *probetest.Host, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(host.Env["COPILOT_HOME"], "config.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestProbeOfAWorkingProgram(t *testing.T) {
	host := machine(t)
	p := copilot.New().Probe(context.Background(), host)
	if p.State != runtime.StateConstrained || p.Version != "1.0.102" || p.Reason != "" {
		t.Fatalf("state %q, version %q, reason %q, limits %v", p.State, p.Version, p.Reason, p.Limits)
	}
	if len(p.Limits) != 1 {
		t.Errorf("limits %v, want the project's settings", p.Limits)
	}
	if p.SignedIn == nil || !*p.SignedIn || p.SignInMethod != "GitHub" || p.Family != "" || p.FamilySource == "" {
		t.Errorf("signed in %v by %q, family %q from %q", p.SignedIn, p.SignInMethod, p.Family, p.FamilySource)
	}
	if len(p.Models) != 0 || p.DefaultModel != "" || !p.ModelsPartial {
		t.Errorf("models %v, default %q, partial %t", p.Models, p.DefaultModel, p.ModelsPartial)
	}
	if len(p.Evidence) != 4 {
		t.Errorf("%d pieces of evidence", len(p.Evidence))
	}
	for _, name := range []runtime.ControlName{
		runtime.ControlReadOnly, runtime.ControlEditsOnly, runtime.ControlToolLimits, runtime.ControlModel,
	} {
		if !p.Has(name) || p.EvidenceOf(name) == "" {
			t.Errorf("control %q is not verified: %s", name, p.EvidenceOf(name))
		}
	}
	for _, name := range []runtime.ControlName{
		runtime.ControlNoProject, runtime.ControlOSSandbox, runtime.ControlEffort, runtime.ControlAgent,
	} {
		if p.Has(name) || p.EvidenceOf(name) == "" {
			t.Errorf("control %q is claimed, or not without a reason", name)
		}
	}
	for _, q := range host.Asked {
		env := strings.Join(q.Env, " ")
		if !strings.Contains(env, "COPILOT_AUTO_UPDATE=false") || !strings.Contains(env, "COPILOT_ALLOW_ALL=false") {
			t.Errorf("asked %v with updates or approvals on", q.Argv)
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
		{"stranger", set("--version", probetest.Says("copilot version v1.34 (AWS)\n")), runtime.StateUnverified, "does not say that it is copilot", "--version"},
		{"slow", set("--help", runtime.Answer{TimedOut: true}), runtime.StateUnverified, "time limit", "copilot --help"},
		{"old", set("--help", probetest.Says("      --model <model>\n")), runtime.StateUnavailable, "does not show --output-format", "update it"},
		{"signed out", set("--acp", probetest.Says(file(t, "testdata/probe/signedout.jsonl"))), runtime.StateUnavailable, "not signed in", "copilot login"},
		{"another error", set("--acp", probetest.Says(`{"id":2,"error":{"code":-32603,"message":"x"}}`)), runtime.StateUnverified, "not known", "run `copilot`"},
		{"says nothing", set("--acp", probetest.Says("")), runtime.StateUnverified, "did not answer", "run `copilot`"},
		{"hangs", set("--acp", runtime.Answer{TimedOut: true}), runtime.StateUnverified, "time limit", "run `copilot`"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			host := machine(t)
			c.change(host)
			p := copilot.New().Probe(context.Background(), host)
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

// A provider of the environment gives a session to anybody.
func TestOwnProviderIsNotKnownToBeSignedIn(t *testing.T) {
	host := machine(t)
	host.Env["COPILOT_PROVIDER_BASE_URL"] = "http://127.0.0.1:1"
	p := copilot.New().Probe(context.Background(), host)
	if p.SignedIn != nil || p.State != runtime.StateConstrained || len(p.Limits) != 3 || p.DefaultModel != "" {
		t.Errorf("signed in %v, state %q, limits %v, default model %q", p.SignedIn, p.State, p.Limits, p.DefaultModel)
	}
	host.Env["COPILOT_MODEL"] = "m-1"
	p = copilot.New().Probe(context.Background(), host)
	if m, ok := p.ModelNamed("m-1"); !ok || !m.Default || p.DefaultModel != "m-1" || len(p.Limits) != 2 {
		t.Errorf("models %v, default %q, limits %v", p.Models, p.DefaultModel, p.Limits)
	}
}

func TestModelsOfASession(t *testing.T) {
	host := machine(t)
	host.Answers["--acp"] = probetest.Says(`{"id":2,"result":{"models":{"currentModelId":"b","availableModels":[{"modelId":"a"},{"modelId":"b"}]}}}`)
	p := copilot.New().Probe(context.Background(), host)
	if m, ok := p.ModelNamed("b"); !ok || !m.Default || p.DefaultModel != "b" || len(p.Models) != 2 {
		t.Errorf("models %v, default %q", p.Models, p.DefaultModel)
	}
}

// The program's text on paths is what shows that edits stay in the folder.
func TestNoEditsOnlyWithoutTheCheckOfPaths(t *testing.T) {
	host := machine(t)
	host.Answers["help permissions"] = probetest.Says("Permissions: none")
	p := copilot.New().Probe(context.Background(), host)
	if p.Has(runtime.ControlEditsOnly) || !p.Has(runtime.ControlReadOnly) {
		t.Errorf("controls %+v", p.Controls)
	}
	if _, err := copilot.New().Command(runtime.Request{Access: runtime.AccessEdit}, p); err == nil {
		t.Error("an editor runs without it")
	}
}

// Where the list of trusted folders is not known, nothing is claimed.
func TestUnreadableTrustBoundsNothing(t *testing.T) {
	cases := map[string]func(*testing.T, *probetest.Host){
		"not understood": func(t *testing.T, h *probetest.Host) { configure(t, h, `{"trustedFolders": 7}`) },
		"no home":        func(_ *testing.T, h *probetest.Host) { h.Env = nil },
		"not a file": func(t *testing.T, h *probetest.Host) {
			if err := os.Mkdir(filepath.Join(h.Env["COPILOT_HOME"], "config.json"), 0o700); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			host := machine(t)
			change(t, host)
			p := copilot.New().Probe(context.Background(), host)
			if p.Has(runtime.ControlReadOnly) || p.Has(runtime.ControlEditsOnly) || !strings.Contains(p.EvidenceOf(runtime.ControlReadOnly), "trust") {
				t.Errorf("controls %+v", p.Controls)
			}
		})
	}
}

// In a trusted folder and below it the project's own programs run, so a job is
// bounded only elsewhere.
func TestTrustedFolderBoundsNobody(t *testing.T) {
	host := machine(t)
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	configure(t, host, "// comment\n// another\n{\n  \"trustedFolders\": [\"/home/me/one\", \""+filepath.ToSlash(link)+"\"]\n}\n")
	p := copilot.New().Probe(context.Background(), host)
	for dir, bounded := range map[string]bool{
		"/home/me/one": false, "/home/me/one/below": false, "/home/me": true, "/home/me/one-more": true, "/elsewhere": true,
		real: false, link: false,
	} {
		_, err := copilot.New().Command(runtime.Request{Access: runtime.AccessRead, Dir: dir}, p)
		if (err == nil) != bounded {
			t.Errorf("in %s: %v", dir, err)
		}
		if err != nil && !strings.Contains(err.Error(), "config.json") {
			t.Errorf("the reason does not say where the list is: %v", err)
		}
	}
	cmd, err := copilot.New().Command(runtime.Request{Access: runtime.AccessShell, Dir: "/home/me/one"}, p)
	if err != nil || !strings.Contains(strings.Join(cmd.Limits, "; "), "is trusted") {
		t.Errorf("a shell in a trusted folder: %v, limits %v", err, cmd.Limits)
	}
}
