package commandcode_test

import (
	"context"
	"errors"
	"os"
	goruntime "runtime"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/commandcode"
	"orchestrate/internal/runtime/probe/probetest"
)

// host is a machine on which command-code is installed and signed in.
func host(t *testing.T) *probetest.Host {
	t.Helper()
	return &probetest.Host{Answers: map[string]runtime.Answer{
		"--version":     probetest.Says("1.64.0\n"),
		"--help":        probetest.Says(file(t, "testdata/probe/help.txt")),
		"status":        signedIn(),
		"--list-models": probetest.Says(file(t, "testdata/probe/models.txt")),
		"--print":       probetest.Says(file(t, "testdata/probe/gate.jsonl")),
	}}
}

func signedIn() runtime.Answer {
	return runtime.Answer{
		Stdout: []byte("✔ Authenticated\n  Provider: Command Code\n  Source:   $COMMAND_CODE_API_KEY (env var)\n\n"),
		Stderr: []byte("- Checking authentication status...\n✔ Authentication verified\n"),
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

func TestProbeOfAWorkingProgram(t *testing.T) {
	h := host(t)
	p := commandcode.New().Probe(context.Background(), h)
	if p.State != runtime.StateConstrained || p.Version != "1.64.0" || p.Reason != "" || p.Runtime != "command-code" {
		t.Fatalf("state %q, version %q, reason %q, limits %v", p.State, p.Version, p.Reason, p.Limits)
	}
	if p.SignedIn == nil || !*p.SignedIn || p.SignInMethod != "$COMMAND_CODE_API_KEY (env var)" {
		t.Errorf("signed in %v by %q", p.SignedIn, p.SignInMethod)
	}
	var names []string
	for _, m := range p.Models {
		names = append(names, m.ID)
	}
	if got := strings.Join(names, " "); got != "maker/open-1 maker/open-1-fast plain-name-2 fake/fake-1" || !p.ModelsPartial || p.DefaultModel != "" {
		t.Errorf("models %s, partial %t, default %q", got, p.ModelsPartial, p.DefaultModel)
	}
	for _, name := range []runtime.ControlName{runtime.ControlReadOnly, runtime.ControlToolLimits, runtime.ControlModel} {
		if !p.Has(name) || p.EvidenceOf(name) == "" {
			t.Errorf("control %q is not verified: %s", name, p.EvidenceOf(name))
		}
	}
	for _, name := range []runtime.ControlName{
		runtime.ControlEditsOnly, runtime.ControlNoProject, runtime.ControlOSSandbox, runtime.ControlEffort, runtime.ControlAgent,
	} {
		if p.Has(name) || p.EvidenceOf(name) == "" {
			t.Errorf("control %q is claimed, or not without a reason", name)
		}
	}
	if p.Family != "" || p.FamilySource == "" || len(p.Evidence) != 5 {
		t.Errorf("family %q from %q, %d pieces of evidence", p.Family, p.FamilySource, len(p.Evidence))
	}
	for _, q := range h.Asked {
		if !strings.Contains(strings.Join(q.Env, " "), "COMMANDCODE_SKIP_UPDATES=1") {
			t.Errorf("asked %v with the look for updates on", q.Argv)
		}
	}
}

// The start that tests the gate ends before a model is called and keeps no session.
func TestSelfTestEndsBeforeAModelIsCalled(t *testing.T) {
	h := host(t)
	commandcode.New().Probe(context.Background(), h)
	last := h.Asked[len(h.Asked)-1].Argv
	words := strings.Join(last, " ")
	if last[0] != "/bin/sh" || !strings.Contains(words, "process.exit(0)") || !strings.HasSuffix(words, "--no-session") {
		t.Errorf("asked %q", last)
	}
}

func TestProbeOfWhatDoesNotWork(t *testing.T) {
	out := runtime.Answer{ExitCode: 1, Stdout: []byte("Run cmd auth login to authenticate.\n"), Stderr: []byte("✖ Not authenticated\n")}
	old := runtime.Answer{ExitCode: 1, Stdout: []byte("\nCommand Code needs Node.js 22 or newer — you're on v20.20.2.\n")}
	for _, c := range []struct {
		name, question string
		answer         runtime.Answer
		state          runtime.State
		reason, next   string
	}{
		{"a stranger by its version", "--version", probetest.Says("cmd 7.1\n"), runtime.StateUnverified, "does not say that it is", "first on PATH"},
		{"a stranger by its help", "--help", probetest.Says("cmd: starts commands\n"), runtime.StateUnverified, "does not say that it is Command Code", "first on PATH"},
		{"another version in its help", "--help", probetest.Says("Command Code v9\n"), runtime.StateUnverified, "does not say that it is Command Code", "first on PATH"},
		{"an old Node.js", "--version", old, runtime.StateUnavailable, "needs Node.js 22", "npm install -g command-code"},
		{"a crash", "--version", runtime.Answer{ExitCode: 1, Stderr: []byte("SyntaxError: x\n")}, runtime.StateUnverified, "ended with status 1", "command-code --version"},
		{"a slow one", "--help", runtime.Answer{TimedOut: true}, runtime.StateUnverified, "time limit", "command-code --help"},
		{"signed out", "status", out, runtime.StateUnavailable, "not signed in", "command-code login"},
		{"an odd status", "status", probetest.Says("hello\n"), runtime.StateUnverified, "did not say whether", "command-code status"},
		{"a hanging status", "status", runtime.Answer{TimedOut: true}, runtime.StateUnverified, "time limit", "command-code status"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := host(t)
			h.Answers[c.question] = c.answer
			p := commandcode.New().Probe(context.Background(), h)
			if p.State != c.state || !strings.Contains(p.Reason, c.reason) || !strings.Contains(p.NextStep, c.next) {
				t.Errorf("state %q, reason %q, next step %q", p.State, p.Reason, p.NextStep)
			}
		})
	}
	p := commandcode.New().Probe(context.Background(), &probetest.Host{Missing: true})
	if p.State != runtime.StateUnavailable || !strings.Contains(p.NextStep, "npm install") {
		t.Errorf("missing: state %q, next step %q", p.State, p.NextStep)
	}
}

// Without the flag that loads the gate no job can be bounded.
func TestProbeWithoutTheFlagOfTheGate(t *testing.T) {
	p := commandcode.New().Probe(context.Background(), lacking(t, "--mod"))
	if p.State != runtime.StateUnavailable || !strings.Contains(p.Reason, "--mod") {
		t.Errorf("state %q, reason %q", p.State, p.Reason)
	}
}

// A gate that does not hold leaves a runtime on which nothing may run.
func TestProbeOfAGateThatDoesNotHold(t *testing.T) {
	for name, c := range map[string]struct {
		answer runtime.Answer
		says   string
	}{
		"it was not loaded":    {probetest.Says(`{"type":"event","event":{"type":"run_start"}}`), "was not loaded"},
		"it left a tool":       {probetest.Says(`{"type":"gate","all":["read_file","agent"],"active":["read_file","agent"]}`), `"agent" was left`},
		"it took nothing away": {probetest.Says(`{"type":"gate","all":["read_file"],"active":["read_file"]}`), "these were left"},
		"it hangs":             {runtime.Answer{TimedOut: true}, "time limit"},
		"there is no shell":    {runtime.Answer{Err: errors.New("no such file")}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			h := host(t)
			h.Answers["--print"] = c.answer
			p := commandcode.New().Probe(context.Background(), h)
			if p.Has(runtime.ControlReadOnly) || p.Has(runtime.ControlToolLimits) || !strings.Contains(p.EvidenceOf(runtime.ControlReadOnly), c.says) {
				t.Errorf("controls %+v", p.Controls)
			}
			if _, err := commandcode.New().Command(runtime.Request{Access: runtime.AccessRead, Dir: t.TempDir()}, p); err == nil {
				t.Error("a job was let run without a gate")
			}
		})
	}
}

// A list that is not understood, or not to be had, is said.
func TestModelsThatAreNotKnown(t *testing.T) {
	for name, answer := range map[string]runtime.Answer{"odd": probetest.Says("a  b\n"), "slow": {TimedOut: true}} {
		h := host(t)
		h.Answers["--list-models"] = answer
		p := commandcode.New().Probe(context.Background(), h)
		if len(p.Models) != 0 || !strings.Contains(strings.Join(p.Limits, "; "), "models are not known") || !p.Routable() {
			t.Errorf("%s: models %v, limits %v, state %q", name, p.Models, p.Limits, p.State)
		}
	}
}

// only is a machine with one executable of those names.
type only struct {
	*probetest.Host
	name string
}

func (o only) LookPath(name string) (string, error) {
	if name != o.name {
		return "", errors.New("not found")
	}
	return probetest.Path + name, nil
}

func TestProgramUnderItsShortName(t *testing.T) {
	short := "cmd"
	if goruntime.GOOS == "windows" {
		short = "cmdc"
	}
	p := commandcode.New().Probe(context.Background(), only{host(t), short})
	if p.Executable == nil || p.Executable.Path != probetest.Path+short || p.State != runtime.StateConstrained {
		t.Errorf("executable %+v, state %q", p.Executable, p.State)
	}
	h := host(t)
	h.Answers["status"] = runtime.Answer{ExitCode: 1, Stderr: []byte("✖ Not authenticated\n")}
	if p := commandcode.New().Probe(context.Background(), only{h, short}); !strings.Contains(p.NextStep, "`"+short+" login`") {
		t.Errorf("next step %q", p.NextStep)
	}
}
