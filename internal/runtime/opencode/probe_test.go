package opencode_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/opencode"
	"orchestrate/internal/runtime/probe/probetest"
)

// machine is one on which opencode is installed and two providers have a key.
func machine(t *testing.T) *probetest.Host {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	return &probetest.Host{
		Answers: map[string]runtime.Answer{
			"--version":    probetest.Says("1.18.33\n"),
			"run --help":   probetest.Says(file(t, "testdata/probe/run-help.txt")),
			"debug config": probetest.Says(file(t, "testdata/probe/config.json")),
			"auth list":    probetest.Says(file(t, "testdata/probe/auth-env.txt")),
			"models":       probetest.Says(file(t, "testdata/probe/models.txt")),
		},
		Each: func(q runtime.Question) (runtime.Answer, bool) {
			if !slices.Contains(q.Argv, "agent") {
				return runtime.Answer{}, false
			}
			if strings.Contains(strings.Join(q.Env, " "), "work/trial/*") {
				return probetest.Says(file(t, "testdata/probe/agents-edit.txt")), true
			}
			return probetest.Says(file(t, "testdata/probe/agents-read.txt")), true
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

// agents makes the program list its agents with another text in place of one.
func agents(h *probetest.Host, old, instead string) {
	each := h.Each
	h.Each = func(q runtime.Question) (runtime.Answer, bool) {
		answer, ok := each(q)
		answer.Stdout = []byte(strings.Replace(string(answer.Stdout), old, instead, 1))
		return answer, ok
	}
}

func TestProbeOfAWorkingProgram(t *testing.T) {
	host := machine(t)
	host.Answers["debug config"] = probetest.Says(`{"model":"fake/fake-1"}`)
	p := opencode.New().Probe(context.Background(), host)
	if p.State != runtime.StateAvailable || p.Version != "1.18.33" || p.Reason != "" {
		t.Fatalf("state %q, version %q, reason %q, limits %v", p.State, p.Version, p.Reason, p.Limits)
	}
	if p.SignedIn == nil || !*p.SignedIn || p.SignInMethod != "environment variables: 2" || p.Family != "" || p.FamilySource == "" {
		t.Errorf("signed in %v by %q, family %q from %q", p.SignedIn, p.SignInMethod, p.Family, p.FamilySource)
	}
	if m, ok := p.ModelNamed("fake/fake-1"); !ok || !m.Default || p.DefaultModel != "fake/fake-1" || p.ModelsPartial || len(p.Models) != 2 {
		t.Errorf("default %q in %+v, partial %t", p.DefaultModel, p.Models, p.ModelsPartial)
	}
	var names []string
	for _, a := range p.Agents {
		names = append(names, a.Name)
	}
	if want := []string{"build", "compaction", "plan", "summary", "title"}; !slices.Equal(names, want) {
		t.Errorf("agents %v", names)
	}
	for name, want := range map[runtime.ControlName]bool{
		runtime.ControlReadOnly: true, runtime.ControlEditsOnly: true, runtime.ControlToolLimits: true, runtime.ControlNoProject: true,
		runtime.ControlModel: true, runtime.ControlEffort: true, runtime.ControlAgent: true, runtime.ControlOSSandbox: false,
	} {
		if p.Has(name) != want || p.EvidenceOf(name) == "" {
			t.Errorf("control %q verified: %t, by %q", name, p.Has(name), p.EvidenceOf(name))
		}
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) != 0 {
		t.Errorf("the self-test left %v behind (%v)", left, err)
	}
}

func TestEveryQuestionIsQuiet(t *testing.T) {
	host := machine(t)
	opencode.New().Probe(context.Background(), host)
	for _, q := range host.Asked {
		for _, want := range []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_PROJECT_CONFIG=1"} {
			if !slices.Contains(q.Env, want) {
				t.Errorf("%v was asked without %s", q.Argv, want)
			}
		}
	}
	if len(host.Asked) != 7 {
		t.Errorf("%d questions", len(host.Asked))
	}
}

func TestProbeOfWhatDoesNotWork(t *testing.T) {
	none := probetest.Says(file(t, "testdata/probe/auth-none.txt"))
	cases := []struct {
		name   string
		change func(*probetest.Host)
		state  runtime.State
		reason string
		next   string
	}{
		{"missing", func(h *probetest.Host) { h.Missing = true }, runtime.StateUnavailable, "no executable", "npm install -g opencode-ai"},
		{"stranger by version", set("--version", probetest.Says("opencode two\n")), runtime.StateUnverified, "does not say that it is opencode", "--version"},
		{"stranger by help", set("run --help", probetest.Says("another run\n  --format  json\n")), runtime.StateUnverified, "does not say that it is opencode", "run --help"},
		{"hangs", set("--version", runtime.Answer{TimedOut: true}), runtime.StateUnverified, "time limit", "--version"},
		{"slow help", set("run --help", runtime.Answer{TimedOut: true}), runtime.StateUnverified, "time limit", "opencode run --help"},
		{"old", set("run --help", probetest.Says("opencode run [message..]\n  --model  x\n")), runtime.StateUnavailable, "does not show --format=json", "update it"},
		{"signed out", func(h *probetest.Host) {
			h.Answers["auth list"], h.Answers["debug config"] = none, probetest.Says("{}")
		}, runtime.StateUnavailable, "not signed in", "opencode auth login"},
		{"signed out, configuration unknown", func(h *probetest.Host) {
			h.Answers["auth list"], h.Answers["debug config"] = none, probetest.Says("oh")
		}, runtime.StateUnverified, "not known", "opencode debug config"},
		{"sign-in in another form", set("auth list", probetest.Says("some")), runtime.StateUnverified, "not understood", "opencode auth list"},
		{"sign-in does not answer", set("auth list", runtime.Answer{TimedOut: true}), runtime.StateUnverified, "time limit", "opencode auth list"},
		{"garbage for agents", func(h *probetest.Host) {
			h.Each = func(q runtime.Question) (runtime.Answer, bool) {
				return probetest.Says("build (primary)\n{"), slices.Contains(q.Argv, "agent")
			}
		}, runtime.StateUnverified, "does not show the agent build", "agent list"},
		{"a project is taken up", set("debug config", probetest.Says(`{"username":"laid-by-the-probe-of-orchestrate"}`)), runtime.StateUnverified, "project file was taken up", ""},
		{"the table is not taken", func(h *probetest.Host) {
			h.Each = func(q runtime.Question) (runtime.Answer, bool) {
				return probetest.Says(`build (primary)` + "\n" + `[{"permission":"*","pattern":"*","action":"allow"}]`), slices.Contains(q.Argv, "agent")
			}
		}, runtime.StateUnverified, "is not refused what is not named", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			host := machine(t)
			c.change(host)
			p := opencode.New().Probe(context.Background(), host)
			if p.State != c.state || !strings.Contains(p.Reason, c.reason) || !strings.Contains(p.NextStep, c.next) {
				t.Errorf("state %q, reason %q, next step %q", p.State, p.Reason, p.NextStep)
			}
			if p.Reason == "" || p.NextStep == "" {
				t.Errorf("reason %q, next step %q", p.Reason, p.NextStep)
			}
		})
	}
}

func set(question string, answer runtime.Answer) func(*probetest.Host) {
	return func(h *probetest.Host) { h.Answers[question] = answer }
}

// What the user's configuration lets an agent do beyond a job's table counts
// against the agent, by what the program itself makes of the two.
func TestTheMergedTableDecides(t *testing.T) {
	const last = `"pattern": "/home/u/.local/share/opencode/tool-output/*",
    "action": "allow"
  }
]
compaction`
	with := func(permission, pattern, action string) string {
		return strings.Replace(last, "\n  }\n]", "\n  },\n  {\"permission\":\""+permission+"\",\"pattern\":\""+pattern+"\",\"action\":\""+action+"\"}\n]", 1)
	}
	cases := []struct {
		name, rule      string
		readOnly, edits bool
	}{
		{"a shell", with("bash", "*", "allow"), false, false},
		{"a tool server's tool", with("server_*", "*", "ask"), false, false},
		{"edits of its own", with("edit", "src/*", "allow"), false, false},
		{"a refusal more", with("grep", "*.key", "deny"), true, true},
		{"reading elsewhere", with("external_directory", "/x/*", "allow"), true, true},
		{"no reading", with("read", "*", "deny"), false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			host := machine(t)
			agents(host, last, c.rule)
			p := opencode.New().Probe(context.Background(), host)
			if p.Has(runtime.ControlReadOnly) != c.readOnly || p.Has(runtime.ControlEditsOnly) != c.edits {
				t.Errorf("read-only %q, edits-only %q", p.EvidenceOf(runtime.ControlReadOnly), p.EvidenceOf(runtime.ControlEditsOnly))
			}
			if _, err := opencode.New().Command(runtime.Request{Access: runtime.AccessRead, Dir: "/w"}, p); (err == nil) != c.readOnly {
				t.Errorf("a reader: %v", err)
			}
		})
	}
}

func TestWhatTheConfigurationConstrains(t *testing.T) {
	cases := []struct {
		name, config, limit string
	}{
		{"no model", `{"provider":{"a":{}}}`, "no default model"},
		{"the default model's provider", `{"model":"fake/fake-1","provider":{"fake":{}}}`, `provider "fake" is set up`},
		{"a tool server", `{"model":"fake/fake-1","mcp":{"two":{"enabled":false},"one":{}}}`, "are started, though their tools are refused: one"},
		{"patterns of its own", `{"model":"fake/fake-1","permission":{"bash":{"git *":"allow"}}}`, "writing without a shell is not possible"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			host := machine(t)
			host.Answers["debug config"] = probetest.Says(c.config)
			p := opencode.New().Probe(context.Background(), host)
			if p.State != runtime.StateConstrained || !strings.Contains(strings.Join(p.Limits, "\n"), c.limit) {
				t.Errorf("state %q, limits %q, reason %q", p.State, p.Limits, p.Reason)
			}
		})
	}
}

// A key in the user's configuration is not in the sign-in list.
func TestAProviderOfTheConfigurationIsConstrained(t *testing.T) {
	host := machine(t)
	host.Answers["auth list"] = probetest.Says(file(t, "testdata/probe/auth-none.txt"))
	p := opencode.New().Probe(context.Background(), host)
	if p.State != runtime.StateConstrained || p.SignedIn != nil || p.SignInMethod != "configuration: fake" {
		t.Errorf("state %q, signed in %v by %q", p.State, p.SignedIn, p.SignInMethod)
	}
	for _, e := range p.Evidence {
		if strings.Contains(e.Answer, "baseURL") {
			t.Errorf("the evidence keeps the providers' settings: %s", e.Answer)
		}
	}
}

func TestAConfiguredAgentIsTheOneThatCounts(t *testing.T) {
	host := machine(t)
	host.Answers["debug config"] = probetest.Says(`{"model":"fake/fake-1","default_agent":"mine"}`)
	p := opencode.New().Probe(context.Background(), host)
	if p.State != runtime.StateUnverified || !strings.Contains(p.Reason, "does not show the agent mine") {
		t.Errorf("state %q, reason %q", p.State, p.Reason)
	}
}

func TestModelsThatAreNotListed(t *testing.T) {
	host := machine(t)
	host.Answers["models"] = probetest.Says("a/b\n{\"variants\":{\"low\":{},\"high\":{}}}\nbroken/c\n{\"variants\"\nhttps://x y\n")
	p := opencode.New().Probe(context.Background(), host)
	if m, ok := p.ModelNamed("a/b"); !ok || !slices.Equal(m.Efforts, []string{"high", "low"}) || len(p.Models) != 1 {
		t.Errorf("models %+v", p.Models)
	}
	host.Answers["models"] = runtime.Answer{TimedOut: true}
	p = opencode.New().Probe(context.Background(), host)
	if !p.ModelsPartial || p.State != runtime.StateConstrained {
		t.Errorf("partial %t, state %q", p.ModelsPartial, p.State)
	}
	// It would fail without saying that it lacks the model.
	if _, err := opencode.New().Command(runtime.Request{Access: runtime.AccessRead, Model: "a/b"}, p); err == nil || !strings.Contains(err.Error(), "did not list its models") {
		t.Errorf("a model was asked for without a list: %v", err)
	}
	if _, err := opencode.New().Command(runtime.Request{Access: runtime.AccessRead}, p); err != nil {
		t.Errorf("its own model: %v", err)
	}
}

// The fork is asked under its own names.
func TestKilo(t *testing.T) {
	host := machine(t)
	host.Answers["--version"] = probetest.Says("7.7.7\n")
	host.Answers["run --help"] = probetest.Says(file(t, "testdata/probe/kilo-run-help.txt"))
	host.Answers["auth list"] = probetest.Says(file(t, "testdata/probe/kilo-auth.txt"))
	a := opencode.NewKilo()
	p := a.Probe(context.Background(), host)
	if a.Name() != "kilo" || p.Version != "7.7.7" || !p.Shows("--variant") {
		t.Errorf("name %q, version %q, flags %v", a.Name(), p.Version, p.Flags)
	}
	// The recorded list is that of opencode, which has no agent "code".
	if p.State != runtime.StateUnverified || !strings.Contains(p.Reason, "the agent code") {
		t.Errorf("state %q, reason %q", p.State, p.Reason)
	}
	for _, q := range host.Asked {
		if !slices.Contains(q.Env, "KILO_DISABLE_PROJECT_CONFIG=1") {
			t.Errorf("%v was asked with %v", q.Argv, q.Env)
		}
	}
	agents(host, "build (primary)", "code (primary)")
	if p = a.Probe(context.Background(), host); !p.Routable() {
		t.Fatalf("state %q, reason %q", p.State, p.Reason)
	}
	cmd, err := a.Command(runtime.Request{Access: runtime.AccessRead, Dir: "/w"}, p)
	if err != nil || cmd.Decoder.Runtime != "kilo" || !strings.HasPrefix(cmd.Env[len(cmd.Env)-1], "KILO_PERMISSION={") {
		t.Errorf("command %+v, %v", cmd, err)
	}
}

// One permission for reading its agent has whatever a table says: that is a limit. And
// a word of its own on the shell comes before the table's on everything, so that a
// table cannot grant one.
func TestWhatKiloKeepsForItself(t *testing.T) {
	host := kilo(t)
	agents(host, `"permission": "doom_loop",
    "action": "deny",`, `"permission": "semantic_search",
    "action": "allow",`)
	a := opencode.NewKilo()
	p := a.Probe(context.Background(), host)
	if !p.Has(runtime.ControlReadOnly) || !slices.ContainsFunc(p.Limits, func(l string) bool { return strings.Contains(l, "semantic_search") }) {
		t.Errorf("read-only: %s; limits %q", p.EvidenceOf(runtime.ControlReadOnly), p.Limits)
	}
	req := runtime.Request{Access: runtime.AccessShell, Dir: "/w"}
	if _, err := a.Command(req, p); err != nil {
		t.Errorf("the table has the last word: %v", err)
	}
	agents(host, `"permission": "bash",
    "action": "deny",
    "pattern": "*"
  }`, `"permission": "lsp",
    "action": "deny",
    "pattern": "*"
  }`)
	p = a.Probe(context.Background(), host)
	if _, err := a.Command(req, p); err == nil || !strings.Contains(err.Error(), "shell") {
		t.Errorf("the table has not the last word: %v", err)
	}
}
