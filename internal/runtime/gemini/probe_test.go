package gemini_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/gemini"
	"orchestrate/internal/runtime/probe/probetest"
)

const (
	byKey      = "The enforced authentication type is 'orchestrate-self-test', but the current type is 'gemini-api-key'. Please re-authenticate with the correct type.\n"
	noWay      = "The auth type 'orchestrate-self-test' is enforced, but no authentication is configured.\n"
	noSessions = "No previous sessions found for this project."
)

// The keys under which the two starts and the session are answered.
const (
	asTrusted = "--list-sessions"
	asJob     = "--skip-trust"
	session   = "--acp"
)

func complains(text string) runtime.Answer {
	return runtime.Answer{ExitCode: 41, Stderr: []byte(text)}
}

// machine is one on which gemini is installed and has a key.
func machine(t *testing.T) *probetest.Host {
	t.Helper()
	return &probetest.Host{Answers: map[string]runtime.Answer{
		"--version": probetest.Says("0.61.0\n"),
		"--help":    probetest.Says(file(t, "testdata/probe/help.txt")),
		asTrusted:   complains(byKey),
		asJob:       probetest.Says(noSessions),
		session:     probetest.Says(file(t, "testdata/probe/acp.jsonl")),
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

func set(question string, answer runtime.Answer) func(*probetest.Host) {
	return func(h *probetest.Host) { h.Answers[question] = answer }
}

func TestProbeOfAWorkingProgram(t *testing.T) {
	host := machine(t)
	p := gemini.New().Probe(context.Background(), host)
	if p.State != runtime.StateAvailable || p.Version != "0.61.0" || p.Reason != "" {
		t.Fatalf("state %q, version %q, reason %q, limits %v", p.State, p.Version, p.Reason, p.Limits)
	}
	if p.SignedIn == nil || !*p.SignedIn || p.SignInMethod != "gemini-api-key" || p.Family != "google" {
		t.Errorf("signed in %v by %q, family %q", p.SignedIn, p.SignInMethod, p.Family)
	}
	if m, ok := p.ModelNamed(p.DefaultModel); !ok || !m.Default || len(p.Models) < 2 || !p.ModelsPartial {
		t.Errorf("default model %q in %+v", p.DefaultModel, p.Models)
	}
	for _, name := range []runtime.ControlName{
		runtime.ControlReadOnly, runtime.ControlEditsOnly, runtime.ControlToolLimits, runtime.ControlNoProject, runtime.ControlModel,
	} {
		if !p.Has(name) {
			t.Errorf("control %q is not verified: %s", name, p.EvidenceOf(name))
		}
	}
	for _, name := range []runtime.ControlName{runtime.ControlOSSandbox, runtime.ControlEffort, runtime.ControlAgent} {
		if p.Has(name) || p.EvidenceOf(name) == "" {
			t.Errorf("control %q is claimed or its absence unexplained", name)
		}
	}
	if len(p.Agents) != 0 || len(p.Evidence) != 5 {
		t.Errorf("%d agents, %d pieces of evidence", len(p.Agents), len(p.Evidence))
	}
}

// Only the first start trusts its folder, and no start may open a browser.
func TestProbeStartsLikeAJob(t *testing.T) {
	host := machine(t)
	gemini.New().Probe(context.Background(), host)
	trusting := 0
	for _, q := range host.Asked {
		env := strings.Join(q.Env, " ")
		if !strings.Contains(env, "NO_BROWSER=true") || !strings.Contains(env, "GEMINI_CLI_NO_RELAUNCH=true") {
			t.Errorf("asked %v with %v", q.Argv, q.Env)
		}
		if strings.Contains(env, "TRUST_WORKSPACE=true") {
			trusting++
		} else if !strings.Contains(env, "TRUST_WORKSPACE=false") {
			t.Errorf("asked %v with %v", q.Argv, q.Env)
		}
	}
	if trusting != 1 {
		t.Errorf("%d starts trusted their folder", trusting)
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
		{"stranger by version", set("--version", probetest.Says("gemini 1.0\n")), runtime.StateUnverified, "does not say that it is gemini", "--version"},
		{"stranger by help", set("--help", probetest.Says("gemini: a protocol browser\n")), runtime.StateUnverified, "does not say that it is Gemini CLI", "--help"},
		{"slow", set("--help", runtime.Answer{TimedOut: true}), runtime.StateUnverified, "time limit", "gemini --help"},
		{"babbling", set("--help", probetest.Says(strings.Repeat("Gemini CLI ", 100_000))), runtime.StateUnavailable, "does not show", "update it"},
		{"old", set("--help", probetest.Says("Gemini CLI\n  -o, --output-format  x  [choices: \"text\"]\n")), runtime.StateUnavailable, "does not show --output-format", "update it"},
		{
			"signed out", func(h *probetest.Host) {
				h.Answers[asTrusted] = complains(noWay)
				h.Answers[asJob] = complains("Please set an Auth method in …")
			}, runtime.StateUnavailable, "not signed in", "GEMINI_API_KEY",
		},
		{
			"a base URL without a choice", func(h *probetest.Host) {
				h.Answers[asTrusted] = complains(strings.ReplaceAll(byKey, "gemini-api-key", "gateway"))
				h.Answers[asJob] = complains("Invalid auth method selected.")
			}, runtime.StateUnavailable, "does not accept its sign-in by gateway", "selectedType",
		},
		{
			"a sign-in that has run out", func(h *probetest.Host) {
				h.Answers[asTrusted] = complains(strings.ReplaceAll(byKey, "gemini-api-key", "oauth-personal"))
				h.Answers[asJob] = runtime.Answer{
					Stdout: []byte(noSessions),
					Stderr: []byte("Error authenticating: FatalAuthenticationError: Manual authorization is required"),
				}
			}, runtime.StateUnavailable, "does not accept its sign-in by oauth-personal", "sign in",
		},
		{"hangs at start", set(asTrusted, runtime.Answer{TimedOut: true}), runtime.StateUnverified, "time limit", "--list-sessions"},
		{"hangs as a job", set(asJob, runtime.Answer{TimedOut: true}), runtime.StateUnverified, "time limit", "--list-sessions"},
		{
			"another form", func(h *probetest.Host) {
				h.Answers[asTrusted], h.Answers[asJob] = probetest.Says("hello"), probetest.Says("hello")
			}, runtime.StateUnverified, "not understood", "--list-sessions",
		},
		{"no models", set(session, probetest.Says("")), runtime.StateConstrained, "", ""},
		{"no status", func(h *probetest.Host) {
			h.Answers["--help"] = probetest.Says(probetest.Without(string(h.Answers["--help"].Stdout), "--list-sessions"))
		}, runtime.StateUnverified, "sign-in is not known", "gemini"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			host := machine(t)
			c.change(host)
			p := gemini.New().Probe(context.Background(), host)
			if p.State != c.state || !strings.Contains(p.Reason, c.reason) || !strings.Contains(p.NextStep, c.next) {
				t.Errorf("state %q, reason %q, next step %q, limits %v", p.State, p.Reason, p.NextStep, p.Limits)
			}
			if !p.Routable() && (p.Reason == "" || p.NextStep == "") {
				t.Error("not routable, without a reason and a next step")
			}
		})
	}
}

// What the self-test does not bear out is not claimed.
func TestControlsRestOnTheSelfTest(t *testing.T) {
	all := []runtime.ControlName{runtime.ControlReadOnly, runtime.ControlEditsOnly}
	cases := []struct {
		name   string
		change func(*probetest.Host)
		lost   runtime.ControlName
	}{
		{"the folder's settings count", set(asJob, complains(byKey)), runtime.ControlNoProject},
		{"the folder's settings never counted", set(asTrusted, probetest.Says(noSessions)), runtime.ControlNoProject},
		{"the machine has policies of its own", set(asJob, runtime.Answer{
			Stdout: []byte(noSessions), Stderr: []byte("Security Warning: Ignoring --admin-policy because system policies are already defined in /etc/x\n"),
		}), runtime.ControlToolLimits},
		{"the policy is not understood", set(asJob, runtime.Answer{
			Stdout: []byte(noSessions), Stderr: []byte("[ADMIN] Policy file error in job.toml:\n"),
		}), runtime.ControlToolLimits},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			host := machine(t)
			c.change(host)
			p := gemini.New().Probe(context.Background(), host)
			for _, name := range append(slices.Clone(all), c.lost) {
				if p.Has(name) || p.EvidenceOf(name) == "" {
					t.Errorf("control %q is claimed: %s", name, p.EvidenceOf(name))
				}
			}
			if p.State == runtime.StateAvailable {
				t.Errorf("state %q", p.State)
			}
			if _, err := gemini.New().Command(runtime.Request{Access: runtime.AccessRead}, p); err == nil {
				t.Error("a reader runs without its boundary")
			}
		})
	}
}

func TestFamilyIsNamedOnlyForTheMakersOwnService(t *testing.T) {
	cases := []struct {
		name   string
		change func(*probetest.Host)
		want   string
	}{
		{"own key", func(*probetest.Host) {}, "google"},
		{"own account", set(asTrusted, complains(strings.ReplaceAll(byKey, "gemini-api-key", "oauth-personal"))), "google"},
		{"a base URL", func(h *probetest.Host) { h.Env = map[string]string{"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1"} }, ""},
		{"somebody's project", set(asTrusted, complains(strings.ReplaceAll(byKey, "gemini-api-key", "vertex-ai"))), ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			host := machine(t)
			c.change(host)
			p := gemini.New().Probe(context.Background(), host)
			if p.Family != c.want || p.FamilySource == "" {
				t.Errorf("family %q from %q, want %q", p.Family, p.FamilySource, c.want)
			}
		})
	}
}
