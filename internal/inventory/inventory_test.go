package inventory

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// still is a host that answers nothing.
type still struct{ runtime.Host }

func (still) Now() time.Time { return time.Unix(7, 0).UTC() }
func (still) Run(_ context.Context, q runtime.Question) runtime.Answer {
	a := runtime.Answer{TimedOut: slices.Contains(q.Argv, "hang"), ExitCode: -1}
	if slices.Contains(q.Argv, "old node") {
		a.Stderr = []byte("it needs Node 22")
	}
	return a
}

// recipe is an adapter whose probe is the function.
type recipe struct {
	runtime.Adapter
	name  string
	probe func(context.Context, runtime.Host) runtime.Profile
}

func (r recipe) Name() string      { return r.name }
func (recipe) SignInEnv() []string { return nil }
func (r recipe) Probe(ctx context.Context, h runtime.Host) runtime.Profile {
	return r.probe(ctx, h)
}

// says is an adapter that gives one profile.
func says(name string, p runtime.Profile) runtime.Adapter {
	p.Kind = runtime.KindCLI
	return recipe{name: name, probe: func(context.Context, runtime.Host) runtime.Profile { return p }}
}

func TestOneBrokenRuntimeLeavesTheRestAlone(t *testing.T) {
	release := make(chan struct{})
	returned := make(chan struct{})
	adapters := []runtime.Adapter{
		says("good", runtime.Profile{State: runtime.StateAvailable}),
		recipe{name: "panics", probe: func(context.Context, runtime.Host) runtime.Profile { panic("index out of range") }},
		recipe{name: "deaf", probe: func(context.Context, runtime.Host) runtime.Profile {
			defer close(returned)
			<-release
			return runtime.Profile{State: runtime.StateAvailable}
		}},
		recipe{name: "slow", probe: func(ctx context.Context, _ runtime.Host) runtime.Profile {
			<-ctx.Done()
			return runtime.Profile{State: runtime.StateUnavailable, Reason: "it did not answer", Version: "1"}
		}},
		says("silent", runtime.Profile{}),
	}
	inv := Prober{Budget: 20 * time.Millisecond, Grace: 20 * time.Millisecond}.Probe(context.Background(), still{}, adapters)
	close(release)
	<-returned

	for name, want := range map[string]struct {
		state  runtime.State
		reason string
	}{
		"good":   {runtime.StateAvailable, ""},
		"panics": {runtime.StateUnverified, "index out of range"},
		"deaf":   {runtime.StateUnverified, "probe budget"},
		"slow":   {runtime.StateUnverified, "probe budget"},
		"silent": {runtime.StateUnverified, "did not say why"},
	} {
		p, ok := inv.Get(name)
		if !ok || p.State != want.state || !strings.Contains(p.Reason, want.reason) || p.ProbedAt.IsZero() {
			t.Errorf("%s: %+v", name, p)
		}
		if !p.Routable() && p.NextStep == "" {
			t.Errorf("%s has no next step", name)
		}
	}
	if p, _ := inv.Get("slow"); p.Version != "1" {
		t.Error("what the slow runtime had said is lost")
	}
	if _, ok := inv.Get("stranger"); ok {
		t.Error("a runtime that was not asked has a profile")
	}
}

func TestAQuestionOverItsTimeIsNoBrokenBinary(t *testing.T) {
	ask := func(state runtime.State) runtime.Adapter {
		return recipe{name: "x", probe: func(ctx context.Context, h runtime.Host) runtime.Profile {
			h.Run(ctx, runtime.Question{Argv: []string{"/bin/x", "hang"}, Timeout: 3 * time.Second})
			return runtime.Profile{State: state, Reason: "broken"}
		}}
	}
	p, _ := Probe(context.Background(), still{}, []runtime.Adapter{ask(runtime.StateUnavailable)}).Get("x")
	if p.State != runtime.StateUnverified || !strings.Contains(p.Reason, "`/bin/x hang` gave no answer within 3s") || p.NextStep == "" {
		t.Errorf("profile %+v", p)
	}
	p, _ = Probe(context.Background(), still{}, []runtime.Adapter{ask(runtime.StateAvailable)}).Get("x")
	if p.State != runtime.StateConstrained || len(p.Limits) != 1 || !strings.Contains(p.Limits[0], "probe budget: `/bin/x hang`") {
		t.Errorf("a runtime proven without that answer became %+v", p)
	}
}

// What a person is told to try is the program alone, however it was asked.
func TestAQuestionOverItsTimeCanBePutByHand(t *testing.T) {
	for how, ask := range map[string]func(context.Context, *probe.Asker){
		"as it is":            func(ctx context.Context, a *probe.Asker) { a.Ask(ctx, nil, "hang") },
		"in a folder":         func(ctx context.Context, a *probe.Asker) { a.AskIn(ctx, "/a folder", "hang") },
		"with its input open": func(ctx context.Context, a *probe.Asker) { a.Converse(ctx, []byte("{}"), 2, "hang") },
	} {
		p, _ := Probe(context.Background(), still{}, []runtime.Adapter{recipe{name: "x", probe: func(ctx context.Context, h runtime.Host) runtime.Profile {
			ask(ctx, &probe.Asker{Host: h, Path: "/bin/x"})
			return runtime.Profile{}
		}}}).Get("x")
		if want := "run `/bin/x hang </dev/null` yourself to see whether it hangs, then `orchestrate doctor` again"; p.NextStep != want {
			t.Errorf("%s: %q, want %q", how, p.NextStep, want)
		}
		if !strings.Contains(p.Reason, "`/bin/x hang` gave no answer") {
			t.Errorf("%s: %q", how, p.Reason)
		}
	}
}

func TestCancelledProbesSaySo(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p, _ := Probe(ctx, still{}, []runtime.Adapter{recipe{name: "x", probe: func(ctx context.Context, _ runtime.Host) runtime.Profile {
		<-ctx.Done()
		return runtime.Profile{}
	}}}).Get("x")
	if p.Routable() || p.NextStep == "" {
		t.Errorf("profile %+v", p)
	}
}

// Signed out is signed out, whatever else was not answered.
func TestAQuestionOverItsTimeDoesNotHideThatNobodyIsSignedIn(t *testing.T) {
	p, _ := Probe(context.Background(), still{}, []runtime.Adapter{recipe{name: "x", probe: func(ctx context.Context, h runtime.Host) runtime.Profile {
		h.Run(ctx, runtime.Question{Argv: []string{"/bin/x", "hang"}})
		return runtime.Profile{State: runtime.StateUnavailable, SignedIn: new(false), Reason: "signed out", NextStep: "x login"}
	}}}).Get("x")
	if p.State != runtime.StateUnavailable || p.Reason != "signed out" || p.NextStep != "x login" {
		t.Errorf("profile %+v", p)
	}
}

func TestAProgramThatNeedsAnotherNode(t *testing.T) {
	p, _ := Probe(context.Background(), still{}, []runtime.Adapter{recipe{name: "x", probe: func(ctx context.Context, h runtime.Host) runtime.Profile {
		h.Run(ctx, runtime.Question{Argv: []string{"/bin/x", "old node"}})
		return runtime.Profile{Reason: "it is a stranger"}
	}}}).Get("x")
	if p.State != runtime.StateUnavailable || !strings.Contains(p.Reason, "it needs Node 22") || !strings.Contains(p.NextStep, "install Node 22") {
		t.Errorf("profile %+v", p)
	}
}

func TestNextSteps(t *testing.T) {
	no := false
	ready := runtime.Profile{State: runtime.StateAvailable}
	missing := runtime.Profile{State: runtime.StateUnavailable, Reason: "not on PATH"}
	signedOut := runtime.Profile{State: runtime.StateUnavailable, Reason: "signed out", SignedIn: &no, Executable: &runtime.Executable{}}
	inv := Probe(context.Background(), still{}, []runtime.Adapter{says("good", ready), says("gone", missing), says("out", signedOut)})
	if names := inv.Absent(); !slices.Equal(names, []string{"gone"}) || len(inv.Present()) != 2 {
		t.Errorf("absent %q, present %v", names, inv.Present())
	}
	steps := inv.NextSteps()
	if len(steps) != 2 || !strings.HasPrefix(steps[0], "gone is unavailable: not on PATH. Next: install gone") ||
		!strings.HasPrefix(steps[1], "out is unavailable: signed out. Next: sign out in") {
		t.Errorf("steps %q", steps)
	}
}

func TestExcerptKeepsCharactersWhole(t *testing.T) {
	got := excerpt(strings.Repeat("é", excerptLimit))
	if !strings.HasSuffix(got, "bytes more …]") || strings.Contains(got, "\uFFFD") || len(got) > excerptLimit+40 {
		t.Errorf("an excerpt of %d bytes ends %q", len(got), got[len(got)-40:])
	}
}

var errNoSlot = errors.New("no supervisor")

// faulty is an adapter that cannot even name its variables.
type faulty struct{ recipe }

func (faulty) SignInEnv() []string { panic("nil map") }

func TestAnAdapterThatPanicsBeforeItsProbe(t *testing.T) {
	h := NewHost(HostOptions{})
	inv := Probe(context.Background(), h, []runtime.Adapter{faulty{recipe{name: "x"}}})
	if p, _ := inv.Get("x"); p.Routable() || !strings.Contains(p.Reason, "nil map") || p.NextStep == "" {
		t.Errorf("profile %+v", p)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
