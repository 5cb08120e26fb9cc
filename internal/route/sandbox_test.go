package route

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/spec"
)

// enforced is a host with a sandbox, off one whose operator wants none, bare one that
// has none.
var (
	enforced = sandbox.Level{State: sandbox.Enforced, Mechanism: sandbox.Landlock, ABI: 5, Evidence: "held"}
	off      = sandbox.Level{State: sandbox.Off}
	bare     = sandbox.Level{State: sandbox.Unavailable, Evidence: "this kernel has no Landlock"}
)

// who asks for what in the tables below.
const (
	aProgram = "exec"
	reading  = "read"
	editing  = "edit"
	shelling = "shell"
)

// at is a job of a tier by one of the above, with a check, that may go to one runtime.
func at(risk policy.Risk, who string, p runtime.Profile, host sandbox.Level, isolation string) Input {
	return input(func(in *Input) {
		in.Profiles, in.Sandbox, in.Job.Isolation = profiles(p), host, isolation
		in.Tiers.Risk, in.Tiers.RiskWhy = risk, "why"
		if risk != policy.R0 {
			in.Job.Effect, in.Job.OwnedPaths, in.Job.Checks = "scoped-write", []string{"src/**"}, []spec.Check{{Shell: "true"}}
		}
		if risk == policy.R3 {
			in.Job.Effect = "external-destructive"
		}
		switch who {
		case aProgram:
			in.Job.Command, in.Tiers.Capability = []string{"true"}, policy.NoCapability
		case shelling:
			in.Job.AllowedTools, in.Builds = []string{"run_it"}, needsShell
		}
	})
}

// TestWhatHoldsEachTier is every tier by what bounds it natively, on a host with a
// sandbox and on one without, for a program, an agent that reads or edits, and one with
// a shell. A cell is the isolation, who holds it, and ! where something is on record as
// weak; "-" is blocked.
func TestWhatHoldsEachTier(t *testing.T) {
	bounded := map[string]runtime.Profile{
		"none": agent("one"), "limits": agent("one", runtime.ControlToolLimits), "native": rename(editor, "one"), "own": rename(boxed, "one"),
	}
	table := `
tier who   native  none                  with isolation: none  engine's        and none written out
R0   exec  none    none !                none !                none landlock   none landlock
R0   read  native  none                  none                  none landlock   none landlock
R0   read  own     none own              none own              none own        none own
R0   read  none    worktree !            -                     none landlock   none landlock
R0   shell native  worktree !            -                     none landlock   none landlock
R0   shell own     none own              none own              none own        none own
R0   shell none    worktree !            -                     none landlock   none landlock
R1   exec  none    worktree !            -                     none landlock   none landlock
R1   edit  native  none                  none                  none landlock   none landlock
R1   edit  own     none own              none own              none own        none own
R1   edit  limits  worktree !            -                     none landlock   none landlock
R1   edit  none    -                     -                     none landlock   none landlock
R1   shell native  worktree !            -                     none landlock   none landlock
R1   shell own     none own              none own              none own        none own
R1   shell none    -                     -                     none landlock   none landlock
R2   exec  none    worktree !            -                     worktree landlock -
R2   edit  native  worktree !            -                     worktree landlock -
R2   edit  own     worktree own          -                     worktree own    -
R2   edit  limits  worktree !            -                     worktree landlock -
R2   edit  none    -                     -                     worktree landlock -
R2   shell native  -                     -                     worktree landlock -
R2   shell own     worktree own          -                     worktree own    -
R2   shell none    -                     -                     worktree landlock -
R3   exec  none    -                     -                     worktree landlock -
R3   edit  native  worktree !            -                     worktree landlock -
R3   edit  own     worktree own          -                     worktree own    -
R3   edit  limits  -                     -                     worktree landlock -
R3   edit  none    -                     -                     worktree landlock -
R3   shell native  -                     -                     worktree landlock -
R3   shell own     worktree own          -                     worktree own    -
R3   shell none    -                     -                     worktree landlock -
`
	rows := 0
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "tier" {
			continue
		}
		rows++
		risk, who, native := policy.Risk(f[0]), f[1], f[2]
		want := cells(f[3:])
		p := bounded[native]
		if who == aProgram {
			p = exec
		}
		for i, c := range []struct {
			host      sandbox.Level
			isolation string
		}{{bare, ""}, {bare, "none"}, {enforced, ""}, {enforced, "none"}, {off, ""}, {sandbox.Level{}, ""}} {
			if i > 3 { // switched off and never asked are as without one
				want = append(want, want[0])
			}
			if got := cell(at(risk, who, p, c.host, c.isolation)); got != want[i] {
				t.Errorf("%s %s, %s, host %q, isolation %q: %q, want %q", risk, who, native, c.host.State, c.isolation, got, want[i])
			}
		}
	}
	if rows != 31 {
		t.Errorf("%d rows", rows)
	}
}

// cells puts words together that make one cell: an isolation begins one.
func cells(words []string) (all []string) {
	for _, w := range words {
		if w == "-" || w == InCheckout || w == InWorktree {
			all = append(all, w)
		} else {
			all[len(all)-1] += " " + w
		}
	}
	return all
}

func cell(in Input) string {
	r, block := Choose(in)
	if block != nil {
		if block.Reason != runtime.BlockedRiskControls || block.NextStep == "" {
			return fmt.Sprintf("blocked otherwise: %+v", block)
		}
		return "-"
	}
	text := r.Isolation
	if r.Sandbox != "" {
		text += " " + r.Sandbox
	}
	if len(r.Constrained) > 0 {
		text += " !"
	}
	return text
}

// The mode of the program itself stays on the list beside the sandbox around it.
func TestNativeControlsStayListed(t *testing.T) {
	for name, c := range map[string]struct {
		in   Input
		want []string
	}{
		"read":              {at(policy.R0, reading, editor, enforced, ""), []string{"read-only", "os-sandbox"}},
		"edit":              {at(policy.R1, editing, editor, enforced, ""), []string{"edits-only", "os-sandbox"}},
		"shell":             {at(policy.R1, shelling, editor, enforced, ""), []string{"os-sandbox"}},
		"exec":              {at(policy.R1, aProgram, exec, enforced, ""), []string{"os-sandbox"}},
		"own, read":         {at(policy.R0, reading, boxed, enforced, ""), []string{"read-only"}},
		"own, edit":         {at(policy.R1, editing, boxed, enforced, ""), []string{"os-sandbox"}},
		"without a sandbox": {at(policy.R1, editing, editor, bare, ""), []string{"edits-only"}},
	} {
		r, block := Choose(c.in)
		var got []string
		for _, control := range r.Controls {
			if slices.Contains([]string{"read-only", "edits-only", "os-sandbox"}, control) {
				got = append(got, control)
			}
		}
		if block != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v, %+v", name, got, c.want, block)
		}
	}
}

// Why there is no sandbox stands beside what is weak without one.
func TestWhyThereIsNoSandboxIsSaid(t *testing.T) {
	for want, host := range map[string]sandbox.Level{
		"no sandbox: the operator switched it off": off, "no sandbox: this kernel has no Landlock": bare,
	} {
		for _, in := range []Input{at(policy.R1, aProgram, exec, host, ""), at(policy.R2, editing, editor, host, ""), at(policy.R0, shelling, open, host, "")} {
			if r, block := Choose(in); block != nil || !slices.Contains(r.Constrained, want) {
				t.Errorf("%q is not in %q, %+v", want, r.Constrained, block)
			}
		}
		if r, _ := Choose(at(policy.R1, editing, editor, host, "")); len(r.Constrained) > 0 {
			t.Errorf("what its own mode bounds is constrained: %q", r.Constrained)
		}
	}
	in := at(policy.R2, editing, editor, enforced, "")
	in.Own = map[string]bool{"editor": true}
	if _, block := Choose(in); block == nil || !strings.Contains(block.Detail, "does not work inside the engine's") {
		t.Errorf("%+v", block)
	}
}

// What works in no sandbox but its own is never put into the engine's.
func TestWhatHasASandboxOfItsOwnKeepsIt(t *testing.T) {
	kept := agent("kept", runtime.ControlReadOnly)
	for name, c := range map[string]struct {
		risk policy.Risk
		who  string
		p    runtime.Profile
		want string
	}{
		"shown to hold":            {policy.R1, editing, rename(boxed, "kept"), "none own"},
		"its read-only mode is it": {policy.R0, reading, kept, "none own"},
		"that is no help to edits": {policy.R1, editing, agent("kept", runtime.ControlReadOnly, runtime.ControlToolLimits), "worktree !"},
		"nor at R2":                {policy.R2, editing, agent("kept", runtime.ControlReadOnly, runtime.ControlEditsOnly, runtime.ControlToolLimits), "-"},
		"not shown at all":         {policy.R0, reading, agent("kept"), "worktree !"},
	} {
		in := at(c.risk, c.who, c.p, enforced, "")
		in.Own = map[string]bool{"kept": true}
		if got := cell(in); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWhatCannotBeBoundInTheCheckoutGetsAWorktree(t *testing.T) {
	for name, c := range map[string]struct {
		in   Input
		want string
	}{
		"an agent":              {at(policy.R1, editing, editor, enforced, ""), "worktree landlock"},
		"a program":             {at(policy.R1, aProgram, exec, enforced, ""), "worktree landlock"},
		"by its checks":         {at(policy.R1, editing, boxed, enforced, ""), "worktree own"},
		"none written out":      {at(policy.R1, editing, editor, enforced, "none"), "-"},
		"an observer":           {at(policy.R0, reading, editor, enforced, ""), "none landlock"},
		"no sandbox to bind it": {at(policy.R1, editing, editor, bare, ""), "none"},
	} {
		c.in.Unboxed = "its owned path *.md takes in .git"
		if got := cell(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if r, block := Choose(c.in); strings.HasPrefix(c.want, "worktree") && !strings.HasSuffix(r.IsolationWhy, c.in.Unboxed) ||
			c.want == "-" && !strings.HasSuffix(block.Detail, c.in.Unboxed) {
			t.Errorf("%s: %q, %+v", name, r.IsolationWhy, block)
		}
	}
}

// What approves everything by itself observes, or works as at R2 in a worktree under a
// sandbox.
func TestARuntimeThatApprovesEverything(t *testing.T) {
	willing := agent("willing", runtime.ControlReadOnly, runtime.ControlEditsOnly, runtime.ControlToolLimits)
	willing.ApprovesAll = true
	unchecked := func(in Input) Input { in.Job.Checks = nil; return in }
	task := func(in Input) Input { in.Job.Worker = &spec.Worker{}; return in }
	for name, c := range map[string]struct {
		in   Input
		want string
		says string // of the block
	}{
		"observes":                    {at(policy.R0, reading, willing, bare, ""), "none !", ""},
		"observes, boxed":             {at(policy.R0, reading, willing, enforced, ""), "none landlock !", ""},
		"R1 becomes R2":               {at(policy.R1, editing, willing, enforced, ""), "worktree landlock !", ""},
		"a shell too":                 {at(policy.R1, shelling, willing, enforced, ""), "worktree landlock !", ""},
		"R2":                          {at(policy.R2, editing, willing, enforced, ""), "worktree landlock !", ""},
		"R1 without a sandbox":        {at(policy.R1, editing, willing, bare, ""), "-", "no sandbox was shown"},
		"R2 without a sandbox":        {at(policy.R2, editing, willing, off, ""), "-", "no sandbox was shown"},
		"R1 in the checkout":          {at(policy.R1, editing, willing, enforced, "none"), "-", "R2: why; willing: it approves everything by itself"},
		"R1 without a check":          {unchecked(at(policy.R1, editing, willing, enforced, "")), "-", "needs a check"},
		"a task of the worker form":   {task(unchecked(at(policy.R1, editing, willing, enforced, ""))), "worktree landlock !", ""},
		"R3":                          {at(policy.R3, editing, willing, enforced, ""), "-", "the job is R3"},
		"a sandbox of its own counts": {at(policy.R1, editing, withOwn(willing), bare, ""), "worktree own !", ""},
	} {
		r, block := Choose(c.in)
		if got := cell(c.in); got != c.want || block != nil && !strings.Contains(block.Detail, c.says) {
			t.Errorf("%s: %q, want %q, %+v", name, got, c.want, block)
		}
		if block == nil && (r.Risk == "R1" || !slices.Contains(r.Constrained, "it approves everything by itself when nobody watches")) {
			t.Errorf("%s: %s, %q", name, r.Risk, r.Constrained)
		}
	}
}

func withOwn(p runtime.Profile) runtime.Profile {
	p.Controls = append(slices.Clone(p.Controls), runtime.Control{Name: runtime.ControlOSSandbox, Verified: true})
	return p
}

// The stand-in, whose every control is a part that it plays, is boxed like the rest.
func TestTheStandInIsBoxed(t *testing.T) {
	played := withOwn(standin)
	for _, c := range []struct {
		host sandbox.Level
		want string
	}{{enforced, "none landlock"}, {bare, "none own"}} {
		in := at(policy.R1, editing, played, c.host, "")
		in.Rehearse = true
		if got := cell(in); got != c.want {
			t.Errorf("host %q: %q, want %q", c.host.State, got, c.want)
		}
	}
}

// A sandbox makes all alike that have none of their own; then the mode of the program
// itself and its tool limits tell them apart, and the account says what holds each.
func TestTheSandboxCountsAsStrength(t *testing.T) {
	in := input(func(in *Input) { in.Profiles, in.Sandbox = profiles(editor, boxed, open), enforced })
	r, block := Choose(in)
	if block != nil || r.Runtime != "editor" || r.Sandbox != SandboxLandlock {
		t.Fatalf("%s in %q, %+v", r.Runtime, r.Sandbox, block)
	}
	for name, want := range map[string]string{
		"editor": "read-only and the engine's sandbox (landlock), tool-limits", "boxed": "read-only and its own sandbox", "open": "the engine's sandbox (landlock)",
	} {
		for _, c := range r.Candidates {
			if c.Runtime == name && !slices.Contains(told(c.Account), "control strength: "+want) {
				t.Errorf("%s: %q", name, told(c.Account))
			}
		}
	}
}

// After a failure in the engine's sandbox nothing follows that is in none.
func TestASuccessorKeepsTheSandbox(t *testing.T) {
	in := at(policy.R1, editing, editor, enforced, "")
	before, _ := Choose(in)
	if r, block := Choose(successor(in, before, open)); block != nil || r.Sandbox != SandboxLandlock {
		t.Errorf("what the sandbox holds needs no limits of its own: %q, %+v", r.Sandbox, block)
	}
	in = at(policy.R0, reading, editor, enforced, "")
	before, _ = Choose(in)
	if r, block := Choose(successor(in, before, boxed)); block != nil || r.Sandbox != SandboxOwn {
		t.Errorf("a sandbox of its own is one: %q, %+v", r.Sandbox, block)
	}
	in.Sandbox = bare
	if _, block := Choose(successor(in, before, rename(editor, "other"))); block == nil || !strings.Contains(block.Detail, "it does not hold os-sandbox") {
		t.Errorf("%+v", block)
	}
}

func TestTheArbiterIsBoxed(t *testing.T) {
	in := ArbiterInput{Dir: "/w", Profiles: profiles(editor), Sandbox: enforced}
	if r, block := ArbiterRoute(in); block != nil || r.Sandbox != SandboxLandlock {
		t.Errorf("%q, %+v", r.Sandbox, block)
	}
	in.Own = map[string]bool{"editor": true}
	if r, block := ArbiterRoute(in); block != nil || r.Sandbox != SandboxOwn {
		t.Errorf("%q, %+v", r.Sandbox, block)
	}
	in.Profiles, in.Own = profiles(open), nil
	if r, block := ArbiterRoute(in); block != nil || r.Isolation != InCheckout || r.Sandbox != SandboxLandlock {
		t.Errorf("what has no read-only mode may judge in the sandbox: %q, %+v", r.Sandbox, block)
	}
}
