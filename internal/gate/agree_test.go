package gate

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/spec"
)

// TestRoutesPassTheGate: whatever routing offers for a job that validation lets through
// holds the controls of its tier. The gate decides from the record alone, so the two
// cannot be wrong in the same way by accident.
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
		if policy.Risk(r.Risk).Less(in.Tiers.Risk) {
			t.Fatalf("%s was lowered to %s", in.Tiers.Risk, r.Risk)
		}
		if p := in.Profiles[r.Runtime]; p.ApprovesAll && in.Job.Writes() && (r.Sandbox == "" || r.Isolation != route.InWorktree || r.Risk != "R2") {
			t.Fatalf("it approves everything by itself: %+v", r)
		}
		if r.Runtime == runtime.Internal && (r.Sandbox != "" || r.Risk == "R3" || in.Job.Writes() && r.Isolation != route.InWorktree) {
			t.Fatalf("an agent of the session: %+v", r)
		}
		if in.Own[r.Runtime] && r.Sandbox == route.SandboxLandlock {
			t.Fatalf("it works in no sandbox but its own: %+v", r)
		}
		if block := Controls(in.Job, r, in.Sandbox); block != nil {
			t.Fatalf("%+v\nroute %+v\njob %+v", block, r, in.Job)
		}
	})
}

// TestNothingPassesUnboxedWhereThereIsASandbox: from R2 on, on a host with a sandbox, the
// gate lets nothing through that is in none, whatever is on the record.
func TestNothingPassesUnboxedWhereThereIsASandbox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		r := ledger.Route{
			Runtime: "one", Constrained: []string{"weak"},
			Risk:       rapid.SampledFrom([]string{"R2", "R3"}).Draw(t, "risk"),
			Capability: rapid.SampledFrom([]string{"", "C3"}).Draw(t, "capability"),
			Access:     rapid.SampledFrom([]string{"read", "edit", "shell"}).Draw(t, "access"),
			Controls: rapid.SliceOfDistinct(rapid.SampledFrom([]string{
				"cwd", "timeout", "capture", "fingerprint", "worktree", "patch", "owned-paths", "read-only", "edits-only", "tool-limits", "os-sandbox",
			}), func(s string) string { return s }).Draw(t, "controls"),
		}
		if Controls(in.Job, r, sandbox.Level{State: sandbox.Enforced}) == nil {
			t.Fatalf("%+v", r)
		}
		r.Sandbox = rapid.SampledFrom([]string{"own", "landlock"}).Draw(t, "sandbox")
		if Controls(in.Job, r, sandbox.Level{State: sandbox.Enforced}) == nil && !enforced(r) {
			t.Fatalf("a sandbox that bounds nothing: %+v", r)
		}
	})
}

func drawInput(t *rapid.T) route.Input {
	j := &spec.Job{ID: "j", Cwd: "/w", Task: "mechanical", Importance: "normal"}
	j.Effect = rapid.SampledFrom([]string{"observe", "scoped-write", "high-impact-write", "external-destructive"}).Draw(t, "effect")
	j.Isolation = rapid.SampledFrom([]string{"", "none", "worktree"}).Draw(t, "isolation")
	j.Untrusted = rapid.Bool().Draw(t, "untrusted")
	if rapid.Bool().Draw(t, "owns") {
		j.OwnedPaths = []string{"src/**"}
	}
	if rapid.Bool().Draw(t, "checked") {
		j.Checks = []spec.Check{{Shell: "true"}}
	}
	if rapid.Bool().Draw(t, "said") {
		j.Preview, j.Rollback = "what it does", "how to undo it"
	}
	if rapid.Bool().Draw(t, "shell") {
		j.AllowedTools = []string{"a shell"}
	}
	if rapid.Bool().Draw(t, "program") {
		j.Command = []string{"true"}
	}
	in := route.Input{Job: j, Own: map[string]bool{"two": rapid.Bool().Draw(t, "own")}, Profiles: map[string]runtime.Profile{
		"exec": {Runtime: "exec", Kind: runtime.KindExec, State: runtime.StateAvailable},
	}}
	in.Tiers = policy.TiersOf(j, "", func(string) string { return "" })
	in.Builds = func(_ string, req runtime.Request) error {
		if req.AllowedTools != nil && req.Access != runtime.AccessShell {
			return errors.New("a shell is not among the tools of this access")
		}
		return nil
	}
	in.NoWorktree = rapid.SampledFrom([]string{"", "not a git repository"}).Draw(t, "git")
	in.Sandbox.State = rapid.SampledFrom([]sandbox.State{"", sandbox.Enforced, sandbox.Unavailable, sandbox.Off}).Draw(t, "host")
	in.Unboxed = rapid.SampledFrom([]string{"", "it takes in .git"}).Draw(t, "unboxed")
	for _, name := range []string{"one", "two"} {
		in.Profiles[name] = drawProfile(t, name)
	}
	in.Profiles[runtime.Internal] = drawSession(t)
	if in.Internal = rapid.Bool().Draw(t, "internal"); in.Internal && len(j.Command) == 0 && rapid.Bool().Draw(t, "pinned") {
		j.Runtime = runtime.Internal
	}
	return in
}

// drawSession is a hosting session with one agent that takes any task.
func drawSession(t *rapid.T) runtime.Profile {
	a := runtime.Agent{Name: "a", General: true}
	a.Access = rapid.SampledFrom([]runtime.Access{"", runtime.AccessRead, runtime.AccessEdit, runtime.AccessShell}).Draw(t, "said")
	a.Tools = rapid.SampledFrom([][]string{nil, {}, {"*"}, {"Read"}, {"Read", "Edit"}, {"a shell"}}).Draw(t, "tools")
	return runtime.Profile{
		Runtime: runtime.Internal, Kind: runtime.KindInternal, State: runtime.StateConstrained, Limits: []string{"no sandbox"},
		Agents: []runtime.Agent{a}, Controls: []runtime.Control{{Name: runtime.ControlAgent, Verified: true}},
	}
}

func drawProfile(t *rapid.T, name string) runtime.Profile {
	p := runtime.Profile{Runtime: name, Kind: runtime.KindCLI}
	p.ApprovesAll = rapid.Bool().Draw(t, "approves all")
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
