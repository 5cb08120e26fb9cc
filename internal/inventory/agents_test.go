//go:build linux

package inventory

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/claude"
	"orchestrate/internal/runtime/codex"
	"orchestrate/internal/supervise"
)

// machine is a host with the fakes of these names on its PATH and little else,
// behaving as the scenario says.
func machine(t *testing.T, scenario string, names ...string) *LiveHost {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin, home := t.TempDir(), t.TempDir()
	targets := map[string]string{}
	for _, name := range names {
		targets[name] = self
	}
	for _, tool := range []string{"cat", "rm", "mkfifo"} { // of the adapters' shell scripts
		if targets[tool], err = exec.LookPath(tool); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range targets {
		if err := os.Symlink(target, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "fakecli.yaml"), []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	program := supervisor(t)
	h := NewHost(HostOptions{
		Env: []string{"PATH=" + bin, "HOME=" + home}, Scratch: t.TempDir(),
		Start: func(ctx context.Context) (Supervisor, error) { return supervise.Start(ctx, program, supervisorVersion) },
	})
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("closing the host: %v", err)
		}
	})
	return h
}

func agents() []runtime.Adapter { return []runtime.Adapter{claude.New(), codex.New()} }

func TestRealAdaptersSayWhatToDoNext(t *testing.T) {
	for name, c := range map[string]struct {
		installed []string
		want      []string // what each step must name; none for a usable agent
	}{
		"both":        {[]string{"claude", "codex"}, nil},
		"only claude": {[]string{"claude"}, []string{"codex is unavailable"}},
		"only codex":  {[]string{"codex"}, []string{"claude is unavailable"}},
		"neither":     {nil, []string{"claude is unavailable", "codex is unavailable"}},
	} {
		t.Run(name, func(t *testing.T) {
			inv := Probe(context.Background(), machine(t, "", c.installed...), agents())
			steps := inv.NextSteps()
			if len(steps) != len(c.want) {
				t.Fatalf("steps %q", steps)
			}
			for i, want := range c.want {
				if !strings.Contains(steps[i], want) || !strings.Contains(steps[i], "install") {
					t.Errorf("step %d is %q", i, steps[i])
				}
			}
			for _, installed := range c.installed {
				if p, _ := inv.Get(installed); !p.Routable() || p.Executable.SHA256 == "" || p.DefaultModel == "" || len(p.Models) == 0 {
					t.Errorf("profile of %s: %+v", installed, p)
				}
			}
		})
	}
}

func TestSignedOutAndUnreadableAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		scenario string
		state    runtime.State
		next     string
	}{
		"signed out":                 {"signed_out: true", runtime.StateUnavailable, "login"},
		"no answer that can be read": {`answers: {auth: "perhaps"}`, runtime.StateUnverified, "run "},
		"a stranger of that name":    {`answers: {version: "coolterm 1.0"}`, runtime.StateUnverified, "put the right one first"},
	} {
		t.Run(name, func(t *testing.T) {
			inv := Probe(context.Background(), machine(t, c.scenario, "claude", "codex"), agents())
			for _, p := range inv.Profiles {
				if p.State != c.state || !strings.Contains(p.NextStep, c.next) || p.Reason == "" {
					t.Errorf("%s is %s: %s. Next: %s", p.Runtime, p.State, p.Reason, p.NextStep)
				}
			}
		})
	}
}

func TestAHangingAgentIsNotCalledBroken(t *testing.T) {
	h := machine(t, "hang: [version]", "claude")
	adapters := append(agents()[:1], says("other", runtime.Profile{State: runtime.StateAvailable}))
	inv := Prober{Budget: 300 * time.Millisecond}.Probe(context.Background(), h, adapters)
	p, _ := inv.Get("claude")
	if p.State != runtime.StateUnverified || !strings.Contains(p.Reason, "probe budget") || p.NextStep == "" {
		t.Errorf("claude is %s: %s. Next: %s", p.State, p.Reason, p.NextStep)
	}
	if other, _ := inv.Get("other"); !other.Routable() {
		t.Errorf("the other runtime became %+v", other)
	}
}
