package codex_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/codex"
	"orchestrate/internal/runtime/probe/probetest"
)

// sandbox is how the fake program's sandbox behaves when it is put to the test.
type sandbox struct {
	leaks  bool // writes outside its folder, whatever the mode
	always bool // writes inside its folder even in read-only mode
	never  bool // writes nothing in any mode
	narrow bool // writes in its working folder only
	broken bool // does not run the command at all
}

// machine is one on which codex is installed and signed in.
func machine(t *testing.T, box sandbox) *probetest.Host {
	t.Helper()
	return &probetest.Host{
		Answers: map[string]runtime.Answer{
			"--version":     probetest.Says("codex-cli 0.171.0\n"),
			"exec --help":   probetest.Says(file(t, "testdata/probe/exec-help.txt")),
			"features list": probetest.Says(file(t, "testdata/probe/features.txt")),
			"login status":  {Stderr: []byte("WARNING: something\nLogged in using ChatGPT\n")},
		},
		Each: func(q runtime.Question) (runtime.Answer, bool) {
			switch {
			case slices.Contains(q.Argv, "app-server"):
				return probetest.Says(file(t, "testdata/probe/app-server.jsonl")), true
			case slices.Contains(q.Argv, "sandbox"):
				return box.try(t, q.Argv), true
			}
			return runtime.Answer{}, false
		},
	}
}

// try does what the command in the sandbox would have managed to do.
func (s sandbox) try(t *testing.T, argv []string) runtime.Answer {
	t.Helper()
	if s.broken {
		return runtime.Answer{ExitCode: 1, Stderr: []byte("bwrap: execvp codex-linux-sandbox: No such file or directory")}
	}
	dir := argv[slices.Index(argv, "-c")+2] // the folder stands after the shell's script
	writable := slices.Contains(argv, "sandbox_mode=workspace-write")
	if !s.never && (writable || s.always) {
		write(t, filepath.Join(dir, "inside"))
		if own := filepath.Join(dir, "..", "private"); !s.narrow && slices.Contains(argv, "sandbox_workspace_write.writable_roots=["+strconv.Quote(own)+"]") {
			write(t, filepath.Join(own, "file"))
		}
	}
	if s.leaks {
		write(t, filepath.Join(dir, "..", "outside", "file"))
	}
	return probetest.Says("self-test-ran\n")
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
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

// server makes the app server say something else than the recorded replies.
func server(h *probetest.Host, replies string) {
	each := h.Each
	h.Each = func(q runtime.Question) (runtime.Answer, bool) {
		if slices.Contains(q.Argv, "app-server") {
			return probetest.Says(replies), true
		}
		return each(q)
	}
}

func TestProbeOfAWorkingProgram(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	p := codex.New().Probe(context.Background(), machine(t, sandbox{}))
	if p.State != runtime.StateAvailable || p.Version != "0.171.0" {
		t.Fatalf("state %q, version %q, reason %q, limits %v", p.State, p.Version, p.Reason, p.Limits)
	}
	if p.SignedIn == nil || !*p.SignedIn || p.SignInMethod != "Logged in using ChatGPT" || p.Family != "openai" {
		t.Errorf("signed in %v by %q, family %q", p.SignedIn, p.SignInMethod, p.Family)
	}
	m, ok := p.ModelNamed(p.DefaultModel)
	if !ok || !m.Default || len(m.Efforts) == 0 || p.ModelsPartial {
		t.Errorf("default model %q is %+v, partial %t", p.DefaultModel, m, p.ModelsPartial)
	}
	for name, want := range map[runtime.ControlName]bool{
		runtime.ControlReadOnly: true, runtime.ControlOSSandbox: true, runtime.ControlNoProject: true,
		runtime.ControlModel: true, runtime.ControlEffort: true, runtime.ControlAnswerForm: true,
		runtime.ControlEditsOnly: false, runtime.ControlToolLimits: false, runtime.ControlAgent: false,
	} {
		if p.Has(name) != want {
			t.Errorf("control %q verified: %t", name, p.Has(name))
		}
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) != 0 {
		t.Errorf("the self-test left %v behind (%v)", left, err)
	}
}

func TestSandboxCountsOnlyByWhatIsOnDisk(t *testing.T) {
	cases := []struct {
		name               string
		box                sandbox
		readOnly, confined bool
		state              runtime.State
	}{
		{"holds", sandbox{}, true, true, runtime.StateAvailable},
		{"leaks", sandbox{leaks: true}, false, false, runtime.StateUnverified},
		{"writes in read-only mode", sandbox{always: true}, false, true, runtime.StateUnverified},
		{"writes nothing", sandbox{never: true}, true, false, runtime.StateConstrained},
		{"has no temporary folder", sandbox{narrow: true}, true, false, runtime.StateConstrained},
		{"does not run", sandbox{broken: true}, false, false, runtime.StateUnverified},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := codex.New().Probe(context.Background(), machine(t, c.box))
			if p.Has(runtime.ControlReadOnly) != c.readOnly || p.Has(runtime.ControlOSSandbox) != c.confined || p.State != c.state {
				t.Errorf("read-only %t, os-sandbox %t, state %q: %s", p.Has(runtime.ControlReadOnly), p.Has(runtime.ControlOSSandbox), p.State, p.Reason)
			}
			for access, held := range map[runtime.Access]bool{runtime.AccessRead: c.readOnly, runtime.AccessEdit: c.confined, runtime.AccessShell: c.confined} {
				_, err := codex.New().Command(runtime.Request{Access: access, Dir: "/w"}, p)
				if (err == nil) != held {
					t.Errorf("%s access: %v", access, err)
				}
			}
			if !p.Routable() && (p.Reason == "" || p.NextStep == "") {
				t.Error("not routable, without a reason and a next step")
			}
		})
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
		{"stranger", set("--version", probetest.Says("codex 1.0\n")), runtime.StateUnverified, "does not say that it is codex", "--version"},
		{"slow", set("exec --help", runtime.Answer{TimedOut: true}), runtime.StateUnverified, "time limit", "codex exec --help"},
		{"old", set("exec --help", probetest.Says("  --json  x\n")), runtime.StateUnavailable, "does not show --sandbox", "update it"},
		{"signed out", set("login status", runtime.Answer{ExitCode: 1, Stderr: []byte("Not logged in\n")}), runtime.StateUnavailable, "not signed in", "codex login"},
		{"status in another form", set("login status", probetest.Says("perhaps")), runtime.StateUnverified, "not understood", "codex login status"},
		{"status says yes and fails", set("login status", runtime.Answer{ExitCode: 1, Stderr: []byte("Logged in using X")}), runtime.StateUnverified, "not understood", "codex login status"},
		{"configuration unknown", func(h *probetest.Host) { server(h, "") }, runtime.StateUnverified, "configuration is not known", "codex sandbox"},
		{"a tool server that cannot be named", func(h *probetest.Host) {
			server(h, `{"id":3,"result":{"config":{"mcp_servers":{"a.b":{}}}}}`)
		}, runtime.StateUnverified, `"a.b"`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			host := machine(t, sandbox{})
			c.change(host)
			p := codex.New().Probe(context.Background(), host)
			if p.State != c.state || !strings.Contains(p.Reason, c.reason) || !strings.Contains(p.NextStep, c.next) {
				t.Errorf("state %q, reason %q, next step %q", p.State, p.Reason, p.NextStep)
			}
			if p.Reason == "" || p.NextStep == "" || strings.Contains(p.NextStep, "://") {
				t.Errorf("reason %q, next step %q", p.Reason, p.NextStep)
			}
		})
	}
}

func set(question string, answer runtime.Answer) func(*probetest.Host) {
	return func(h *probetest.Host) { h.Answers[question] = answer }
}

func TestAKeyInTheEnvironmentIsConstrained(t *testing.T) {
	out := runtime.Answer{ExitCode: 1, Stderr: []byte("Not logged in\n")}
	own := machine(t, sandbox{})
	own.Answers["login status"] = out
	own.Env = map[string]string{"CODEX_API_KEY": "x"}
	p := codex.New().Probe(context.Background(), own)
	if p.State != runtime.StateConstrained || p.SignedIn != nil || p.Family != "openai" {
		t.Errorf("own provider: state %q, signed in %v, family %q, limits %v", p.State, p.SignedIn, p.Family, p.Limits)
	}

	other := machine(t, sandbox{})
	other.Answers["login status"] = out
	server(other, `{"id":3,"result":{"config":{"model":"m-1","model_provider":"mine","model_providers":{"mine":{"env_key":"MY_KEY"}}}}}`)
	if p := codex.New().Probe(context.Background(), other); p.State != runtime.StateUnavailable || !strings.Contains(p.NextStep, "MY_KEY") {
		t.Errorf("without its key: state %q, next step %q", p.State, p.NextStep)
	}
	other.Env = map[string]string{"MY_KEY": "x"}
	p = codex.New().Probe(context.Background(), other)
	if p.State != runtime.StateConstrained || p.Family != "" || p.DefaultModel != "m-1" || !p.ModelsPartial {
		t.Errorf("with its key: state %q, family %q, default %q, partial %t, reason %q", p.State, p.Family, p.DefaultModel, p.ModelsPartial, p.Reason)
	}
}

func TestFamilyIsNamedOnlyForTheMakersOwnService(t *testing.T) {
	cases := map[string]func(*probetest.Host){
		"environment": func(h *probetest.Host) { h.Env = map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:1"} },
		"configuration": func(h *probetest.Host) {
			server(h, `{"id":3,"result":{"config":{"model":null},"origins":{"openai_base_url":{}}}}`)
		},
	}
	for name, change := range cases {
		host := machine(t, sandbox{})
		change(host)
		if p := codex.New().Probe(context.Background(), host); p.Family != "" || p.FamilySource == "" {
			t.Errorf("%s: family %q from %q", name, p.Family, p.FamilySource)
		}
	}
}

// The model set in the user's configuration is the default, not the list's own.
func TestDefaultModelHonoursTheConfiguration(t *testing.T) {
	host := machine(t, sandbox{})
	server(host, `{"id":2,"result":{"data":[{"id":"a","isDefault":true,"supportedReasoningEfforts":[]},{"id":"b","supportedReasoningEfforts":[{"reasoningEffort":"low"}]}]}}`+"\n"+
		`{"id":3,"result":{"config":{"model":"b"}}}`)
	p := codex.New().Probe(context.Background(), host)
	if m, ok := p.ModelNamed("b"); p.DefaultModel != "b" || !ok || !m.Default {
		t.Errorf("default %q, list %+v", p.DefaultModel, p.Models)
	}
	if m, _ := p.ModelNamed("a"); m.Default {
		t.Error("two defaults")
	}
}
