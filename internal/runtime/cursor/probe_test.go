package cursor_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/cursor"
	"orchestrate/internal/runtime/probe/probetest"
)

// host is a machine on which the program answers as published for it.
func host(t *testing.T) *probetest.Host {
	t.Helper()
	return &probetest.Host{Answers: map[string]runtime.Answer{
		"--version":     probetest.Says("2026.07.16-899851b\n"),
		"--help":        probetest.Says(file(t, "testdata/documented-probe/help.txt")),
		"status":        probetest.Says("\n ✓ Logged in as you@example.org\n"),
		"--list-models": probetest.Says(file(t, "testdata/documented-probe/models.txt")),
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

func TestProbeOfAProgramThatShowsAll(t *testing.T) {
	h := host(t)
	p := cursor.New().Probe(context.Background(), h)
	if p.State != runtime.StateConstrained || p.Version != "2026.07.16-899851b" || p.Runtime != "agent" || p.Reason != "" {
		t.Fatalf("state %q, version %q, reason %q", p.State, p.Version, p.Reason)
	}
	if !strings.Contains(strings.Join(p.Limits, "; "), "public documentation") {
		t.Errorf("limits %q do not say on what the adapter rests", p.Limits)
	}
	if p.SignedIn == nil || !*p.SignedIn || p.Family != "" || p.FamilySource == "" {
		t.Errorf("signed in %v, family %q from %q", p.SignedIn, p.Family, p.FamilySource)
	}
	if m, ok := p.ModelNamed("Maker 2 High"); !ok || m.ID != "maker-2-high" || p.DefaultModel != "auto" || len(p.Models) != 3 || !p.ModelsPartial {
		t.Errorf("models %+v, default %q", p.Models, p.DefaultModel)
	}
	for _, name := range []runtime.ControlName{runtime.ControlReadOnly, runtime.ControlModel} {
		if !p.Has(name) || p.EvidenceOf(name) == "" {
			t.Errorf("control %q is not verified", name)
		}
	}
	for _, name := range []runtime.ControlName{
		runtime.ControlEditsOnly, runtime.ControlToolLimits, runtime.ControlNoProject, runtime.ControlOSSandbox, runtime.ControlEffort, runtime.ControlAgent,
	} {
		if p.Has(name) || p.EvidenceOf(name) == "" {
			t.Errorf("control %q is claimed, or not without a reason", name)
		}
	}
	for _, e := range p.Evidence {
		if strings.Contains(e.Answer, "example.org") {
			t.Errorf("evidence tells about a person: %q", e.Answer)
		}
	}
	for _, q := range h.Asked {
		if !strings.Contains(strings.Join(q.Env, " "), "NO_OPEN_BROWSER=1") {
			t.Errorf("asked %v, which may open a browser", q.Argv)
		}
	}
}

func TestProbeOfWhatIsNotProven(t *testing.T) {
	notReading := strings.ReplaceAll(file(t, "testdata/documented-probe/help.txt"), "questions (read-only)", "questions")
	for _, c := range []struct {
		name, question string
		answer         runtime.Answer
		state          runtime.State
		reason, next   string
	}{
		{"a stranger by its version", "--version", probetest.Says("agent 1.4.2\n"), runtime.StateUnverified, "does not say that it is agent", "first on PATH"},
		{"a stranger by its help", "--help", probetest.Says("Usage: agent [flags]\n\nThe monitoring agent\n"), runtime.StateUnverified, "does not say that it is Cursor's", "cursor.com/install"},
		{"a mode that is not called read-only", "--help", probetest.Says(notReading), runtime.StateUnverified, "nothing shows that a job would only read", "update"},
		{"a slow one", "--help", runtime.Answer{TimedOut: true}, runtime.StateUnverified, "time limit", "--help"},
		{"signed out", "status", probetest.Says("Not logged in\n"), runtime.StateUnavailable, "not signed in", "cursor-agent login"},
		{"an odd status", "status", probetest.Says("hello\n"), runtime.StateUnverified, "did not say whether", "status"},
		{"a hanging status", "status", runtime.Answer{TimedOut: true}, runtime.StateUnverified, "time limit", "status"},
		{"an account without models", "--list-models", probetest.Says("Loading models…\nNo models available for this account.\n"), runtime.StateUnverified, "no models", "login"},
		{"a list that is not understood", "--list-models", probetest.Says("?\n"), runtime.StateConstrained, "", ""},
		{"a list that is not to be had", "--list-models", runtime.Answer{TimedOut: true}, runtime.StateConstrained, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := host(t)
			h.Answers[c.question] = c.answer
			p := cursor.New().Probe(context.Background(), h)
			if p.State != c.state || !strings.Contains(p.Reason, c.reason) || !strings.Contains(p.NextStep, c.next) {
				t.Errorf("state %q, reason %q, next step %q", p.State, p.Reason, p.NextStep)
			}
			if p.Routable() != (c.state == runtime.StateConstrained) {
				t.Errorf("routable: %t", p.Routable())
			}
		})
	}
	p := cursor.New().Probe(context.Background(), &probetest.Host{Missing: true})
	if p.State != runtime.StateUnavailable || !strings.Contains(p.NextStep, "cursor.com/install") {
		t.Errorf("missing: state %q, next step %q", p.State, p.NextStep)
	}
}

// Each flag on which every job rests.
func TestProbeWithoutAnIndispensableFlag(t *testing.T) {
	for _, flag := range []string{"--print", "--output-format", "--mode", "--trust"} {
		p := cursor.New().Probe(context.Background(), lacking(t, flag))
		if p.State != runtime.StateUnavailable || !strings.Contains(p.Reason, flag) || p.NextStep == "" {
			t.Errorf("%s: state %q, reason %q", flag, p.State, p.Reason)
		}
	}
}

// lacking is a machine whose program does not show flag in its help.
func lacking(t *testing.T, flag string) *probetest.Host {
	t.Helper()
	h := host(t)
	h.Answers["--help"] = probetest.Says(probetest.Without(file(t, "testdata/documented-probe/help.txt"), flag))
	return h
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
	p := cursor.New().Probe(context.Background(), only{host(t), "agent"})
	if p.State != runtime.StateConstrained || p.Executable.Path != probetest.Path+"agent" {
		t.Errorf("state %q, executable %+v", p.State, p.Executable)
	}
}
