package route

import (
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// TestASuccessorIsNotWeaker: after a failure on one profile, the fallback on another
// is refused for the control that it lacks.
func TestASuccessorIsNotWeaker(t *testing.T) {
	limited := agent("limited", runtime.ControlReadOnly, runtime.ControlToolLimits, runtime.ControlNoProject)
	plain := agent("plain", runtime.ControlReadOnly)
	shell := func(in *Input) { in.Job.AllowedTools, in.Builds = []string{"run_it"}, needsShell }
	nothing := func(*Input) {}
	for name, c := range map[string]struct {
		first, next runtime.Profile
		change      func(*Input)
		refused     string // "" = taken
	}{
		"the same":                              {limited, rename(limited, "other"), nothing, ""},
		"a stronger boundary":                   {editor, boxed, writes, ""},
		"a sandbox holds what tools do":         {editor, boxed, nothing, ""},
		"no sandbox":                            {boxed, editor, writes, "it does not hold os-sandbox"},
		"the project is not kept out":           {limited, editor, nothing, "it does not hold no-project"},
		"no tool limits, and more":              {limited, plain, nothing, "it does not hold tool-limits, no-project"},
		"another model of the same":             {editor, editor, nothing, ""},
		"a shell that is not confined any more": {boxed, editor, shell, "it does not hold os-sandbox"},
	} {
		t.Run(name, func(t *testing.T) {
			first := input(func(in *Input) {
				in.Profiles, in.Job.Runtime = profiles(c.first), c.first.Runtime
				c.change(in)
			})
			before, block := Choose(first)
			if block != nil {
				t.Fatalf("%+v", block)
			}
			r, block := Choose(successor(first, before, c.next))
			switch {
			case c.refused == "" && (block != nil || r.Runtime != c.next.Runtime):
				t.Errorf("%+v, %+v", r, block)
			case c.refused != "" && (block == nil || block.Reason != runtime.BlockedRiskControls || block.NextStep == "" ||
				!strings.Contains(block.Detail, "weaker than "+c.first.Runtime) || !strings.HasSuffix(block.Detail, c.refused)):
				t.Errorf("%+v, %+v", r, block)
			}
		})
	}
}

func rename(p runtime.Profile, name string) runtime.Profile {
	p.Runtime = name
	return p
}

// successor is the input after the first route failed, with one declared fallback.
func successor(in Input, before ledger.Route, next runtime.Profile) Input {
	in.Job.Fallbacks = fallbacks(next.Runtime)
	if next.Runtime == before.Runtime {
		in.Job.Fallbacks[0].Model = "small"
	}
	in.Profiles = profiles(next)
	in.Tried = []Tried{TriedOn(before, runtime.ReasonQuota)}
	return in
}

// A wider access is named too; one that is not known, from an older record, is not
// compared.
func TestASuccessorGetsNoWiderAccess(t *testing.T) {
	in := input(func(in *Input) {
		in.Profiles, in.Job.Fallbacks = profiles(boxed), fallbacks("boxed")
		in.Job.AllowedTools, in.Builds = []string{"run_it"}, needsShell
		in.Tried = []Tried{{Runtime: "editor", Reason: runtime.ReasonCrash, Access: runtime.AccessRead}}
	})
	if _, block := Choose(in); block == nil || !strings.Contains(block.Detail, "read access only (it would get shell)") {
		t.Errorf("%+v", block)
	}
	in.Tried[0].Access = ""
	if _, block := Choose(in); block != nil {
		t.Errorf("%+v", block)
	}
}

// What had a worktree gets one again, and that covers the checkout's fingerprint.
func TestASuccessorKeepsTheWorktree(t *testing.T) {
	in := input(func(in *Input) { in.Profiles, in.Job.Runtime = profiles(open), "open" })
	before, _ := Choose(in)
	if before.Isolation != InWorktree {
		t.Fatalf("%+v", before)
	}
	r, block := Choose(successor(in, before, boxed))
	if block != nil || r.Isolation != InWorktree || r.IsolationWhy != "an earlier attempt had a worktree" {
		t.Errorf("%+v, %+v", r, block)
	}
	in = input(func(in *Input) { in.Profiles, in.Job.Runtime = profiles(boxed), "boxed" })
	before, _ = Choose(in)
	next := successor(in, before, rename(boxed, "other"))
	next.Isolate = "works at the snapshot of b"
	if r, block := Choose(next); block != nil || r.Isolation != InWorktree {
		t.Errorf("%+v, %+v", r, block)
	}
}

// A model pin binds only its own runtime.
func TestAModelPinIsNotCarriedOver(t *testing.T) {
	in := input(func(in *Input) { in.Profiles, in.Job.Runtime, in.Job.Model = profiles(editor), "editor", "small" })
	before, _ := Choose(in)
	r, block := Choose(successor(in, before, boxed))
	if block != nil || before.Model != "small" || r.Model != "" {
		t.Errorf("%q, then %q, %+v", before.Model, r.Model, block)
	}
}
