package gate

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"orchestrate/internal/policy"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// TestRoutesPassTheGate: below R3, whatever routing offers for a job that
// validation lets through holds the controls of its tier. The gate decides from
// the record alone, so the two cannot be wrong in the same way by accident.
func TestRoutesPassTheGate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		if len(policy.Validate(0, in.Job, in.Tiers)) > 0 {
			t.Skip("refused by validation")
		}
		r, block := route.Choose(in)
		if block != nil {
			if block.NextStep == "" || block.Detail == "" || block.Reason == "" {
				t.Fatalf("a block without a way on: %+v", block)
			}
			return
		}
		if r.Isolation == route.InWorktree && in.NoWorktree != "" {
			t.Fatalf("a worktree where none can be made: %+v", r)
		}
		if block := Controls(in.Job, r, in.Sandbox); block != nil {
			t.Fatalf("%+v\nroute %+v\njob %+v", block, r, in.Job)
		}
	})
}

func drawInput(t *rapid.T) route.Input {
	j := &spec.Job{ID: "j", Cwd: "/w", Task: "mechanical", Importance: "normal"}
	j.Effect = rapid.SampledFrom([]string{"observe", "scoped-write", "high-impact-write"}).Draw(t, "effect")
	j.Isolation = rapid.SampledFrom([]string{"", "none", "worktree"}).Draw(t, "isolation")
	j.Untrusted = rapid.Bool().Draw(t, "untrusted")
	if rapid.Bool().Draw(t, "owns") {
		j.OwnedPaths = []string{"src/**"}
	}
	if rapid.Bool().Draw(t, "checked") {
		j.Checks = []spec.Check{{Shell: "true"}}
	}
	if rapid.Bool().Draw(t, "shell") {
		j.AllowedTools = []string{"a shell"}
	}
	if rapid.Bool().Draw(t, "program") {
		j.Command = []string{"true"}
	}
	in := route.Input{Job: j, Profiles: map[string]runtime.Profile{
		"exec": {Runtime: "exec", Kind: runtime.KindExec, State: runtime.StateAvailable},
	}}
	in.Tiers = policy.TiersOf(j, "", func(string) bool { return false })
	in.Builds = func(_ string, req runtime.Request) error {
		if req.AllowedTools != nil && req.Access != runtime.AccessShell {
			return errors.New("a shell is not among the tools of this access")
		}
		return nil
	}
	in.NoWorktree = rapid.SampledFrom([]string{"", "not a git repository"}).Draw(t, "git")
	for _, name := range []string{"one", "two"} {
		in.Profiles[name] = drawProfile(t, name)
	}
	return in
}

func drawProfile(t *rapid.T, name string) runtime.Profile {
	p := runtime.Profile{Runtime: name, Kind: runtime.KindCLI}
	p.State = rapid.SampledFrom([]runtime.State{
		runtime.StateAvailable, runtime.StateConstrained, runtime.StateUnverified, runtime.StateUnavailable,
	}).Draw(t, "state")
	for _, c := range []runtime.ControlName{
		runtime.ControlReadOnly, runtime.ControlEditsOnly, runtime.ControlOSSandbox, runtime.ControlToolLimits,
	} {
		p.Controls = append(p.Controls, runtime.Control{Name: c, Verified: rapid.Bool().Draw(t, string(c))})
	}
	return p
}
