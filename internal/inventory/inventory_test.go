package inventory

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/runtime"
)

// still is a host that answers nothing.
type still struct{ runtime.Host }

func (still) Now() time.Time { return time.Unix(7, 0).UTC() }
func (still) Run(_ context.Context, q runtime.Question) runtime.Answer {
	return runtime.Answer{TimedOut: slices.Contains(q.Argv, "hang"), ExitCode: -1}
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
	p, _ = Probe(context.Background(), still{}, []runtime.Adapter{ask(runtime.StateConstrained)}).Get("x")
	if p.State != runtime.StateConstrained {
		t.Errorf("a runtime proven without that answer became %+v", p)
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

func TestNextSteps(t *testing.T) {
	no := false
	ready := runtime.Profile{State: runtime.StateAvailable}
	missing := runtime.Profile{State: runtime.StateUnavailable, Reason: "not on PATH"}
	signedOut := runtime.Profile{State: runtime.StateUnavailable, Reason: "signed out", SignedIn: &no, Executable: &runtime.Executable{}}
	for name, c := range map[string]struct {
		claude, codex runtime.Profile
		want          []string
	}{
		"both":            {ready, ready, nil},
		"only claude":     {ready, missing, []string{"codex is unavailable: not on PATH. Next: install codex"}},
		"only codex":      {signedOut, ready, []string{"claude is unavailable: signed out. Next: sign claude in"}},
		"neither is here": {missing, missing, []string{"claude is", "codex is", "orchestrate rehearse SPEC"}},
	} {
		t.Run(name, func(t *testing.T) {
			inv := Probe(context.Background(), still{}, []runtime.Adapter{says("claude", c.claude), says("codex", c.codex)})
			steps := inv.NextSteps()
			if len(steps) != len(c.want) {
				t.Fatalf("steps %q", steps)
			}
			for i, want := range c.want {
				if !strings.Contains(steps[i], want) {
					t.Errorf("step %d is %q, want %q in it", i, steps[i], want)
				}
			}
		})
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
