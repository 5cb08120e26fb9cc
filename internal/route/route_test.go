package route

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// agent is a live profile of a coding agent with a verified set of controls.
func agent(name string, controls ...runtime.ControlName) runtime.Profile {
	p := runtime.Profile{
		Runtime: name, Kind: runtime.KindCLI, State: runtime.StateAvailable, DefaultModel: "big",
		Models: []runtime.Model{{ID: "big", Efforts: []string{"low", "high"}, Default: true}, {ID: "small", Resolved: "small-1"}},
		Agents: []runtime.Agent{{Name: "helper"}}, Family: "maker-of-" + name, FamilySource: "sign-in",
	}
	for _, c := range append(controls, runtime.ControlModel, runtime.ControlEffort, runtime.ControlAgent) {
		p.Controls = append(p.Controls, runtime.Control{Name: c, Verified: true})
	}
	return p
}

// editor bounds edits by its own mode, boxed by the kernel, and open by nothing.
var (
	editor = agent("editor", runtime.ControlReadOnly, runtime.ControlEditsOnly, runtime.ControlToolLimits)
	boxed  = agent("boxed", runtime.ControlReadOnly, runtime.ControlOSSandbox)
	open   = agent("open")
	exec   = runtime.Profile{Runtime: "exec", Kind: runtime.KindExec, State: runtime.StateAvailable}
	signed = runtime.Profile{
		Runtime: "out", Kind: runtime.KindCLI, State: runtime.StateUnavailable, Reason: "signed out", NextStep: "type `out login`",
		Executable: &runtime.Executable{Path: "/bin/out"},
	}
	standin = runtime.Profile{
		Runtime: "standin", Kind: runtime.KindStandin, State: runtime.StateAvailable, Capability: "C3", CapabilitySource: "rehearsal",
		Controls: []runtime.Control{{Name: runtime.ControlReadOnly, Verified: true}, {Name: runtime.ControlEditsOnly, Verified: true}},
	}
)

func profiles(ps ...runtime.Profile) map[string]runtime.Profile {
	out := map[string]runtime.Profile{}
	for _, p := range ps {
		out[p.Runtime] = p
	}
	return out
}

// input is a scout at C1/R0 that may go to any of three; each case changes that.
func input(change func(*Input)) Input {
	in := Input{
		Job:      &spec.Job{ID: "j", Task: "scout", Effect: "observe", Cwd: "/w"},
		Tiers:    policy.Tiers{Capability: policy.C1, Risk: policy.R0, RiskWhy: "effect observe"},
		Profiles: profiles(editor, boxed, signed, exec, standin),
	}
	change(&in)
	return in
}

func writes(in *Input) {
	in.Job.Task, in.Job.Effect, in.Job.OwnedPaths = "implement", "scoped-write", []string{"src/**"}
	in.Tiers = policy.Tiers{Capability: policy.C2, Risk: policy.R1, RiskWhy: "task implement"}
}

func runs(in *Input) {
	in.Job.Task, in.Job.Command = "mechanical", []string{"true"}
	in.Tiers.Capability = policy.NoCapability
}

func fallbacks(names ...string) []spec.Fallback {
	var out []spec.Fallback
	for _, n := range names {
		out = append(out, spec.Fallback{Runtime: n})
	}
	return out
}

func TestChosenRuntime(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*Input)
		runtime string
		model   string
		why     string
	}{
		"by policy, the kernel's boundary first": {func(*Input) {}, "boxed", "", "chosen by policy, live default model big"},
		"a placeholder is the same":              {func(in *Input) { in.Job.RuntimePlaceholder = "<any>" }, "boxed", "", "chosen by policy"},
		"pinned":                                 {func(in *Input) { in.Job.Runtime = "editor" }, "editor", "", "named by the spec, live default model big"},
		"pinned with a model": {
			func(in *Input) { in.Job.Runtime, in.Job.Model = "editor", "small" }, "editor", "small", "model small (the spec)",
		},
		"by what an alias stands for": {func(in *Input) { in.Job.Runtime, in.Job.Model = "editor", "small-1" }, "editor", "small-1", ""},
		"the operator's model": {
			func(in *Input) {
				in.Operator.Runtimes = map[string]policy.RuntimeRule{"boxed": {Model: "small"}}
			}, "boxed", "small", "model small (the operator's configuration)",
		},
		"only what is enabled": {func(in *Input) { in.Operator.Enabled = []string{"editor"} }, "editor", "", ""},
		"a pin may name what is not enabled": {
			func(in *Input) { in.Job.Runtime, in.Operator.Enabled = "boxed", []string{"editor"} }, "boxed", "", "",
		},
		"failures in this run come before the name": {
			func(in *Input) {
				other := editor
				other.Runtime = "another"
				in.Profiles = profiles(editor, other)
				in.Failures = map[string]int{"another": 1}
			}, "editor", "", "",
		},
		"ties by name": {
			func(in *Input) {
				other := editor
				other.Runtime = "another"
				in.Profiles = profiles(editor, other)
			}, "another", "", "",
		},
		"a dead pin with a declared fallback": {
			func(in *Input) { in.Job.Runtime, in.Job.Model, in.Job.Fallbacks = "out", "x", fallbacks("editor") },
			"editor", "", "declared fallback: out: unavailable: signed out",
		},
		"a fallback placeholder is the next by policy": {
			func(in *Input) { in.Job.Runtime, in.Job.Fallbacks = "out", []spec.Fallback{{Placeholder: "<other>"}} },
			"boxed", "", "declared fallback",
		},
		"after a failure, the next declared": {
			func(in *Input) {
				in.Job.Runtime, in.Job.Fallbacks = "boxed", fallbacks("boxed", "editor")
				in.Tried = []Tried{{Runtime: "boxed", Reason: runtime.ReasonQuota}}
			}, "editor", "", "declared fallback: boxed ended with quota",
		},
		"the same runtime with another model": {
			func(in *Input) {
				in.Job.Runtime, in.Job.Fallbacks = "boxed", []spec.Fallback{{Runtime: "boxed", Model: "small"}}
				in.Tried = []Tried{{Runtime: "boxed", Reason: runtime.ReasonUnknownModel}}
			}, "boxed", "small", "declared fallback",
		},
		"exec": {runs, "exec", "", "a plain program"},
		"a command of the person's own": {
			func(in *Input) { runs(in); in.Job.Worker = &spec.Worker{Command: "cat"} }, "exec", "", "a command of your own",
		},
		"named in a task": {
			func(in *Input) {
				in.Job.Runtime, in.Job.Model, in.Job.Worker = "editor", "new", &spec.Worker{AsIs: true}
				partial(in)
			},
			"editor", "new", "named by the task, model new (the task)",
		},
		"exec is not rehearsed":   {func(in *Input) { runs(in); in.Rehearse = true }, "exec", "", "a plain program"},
		"a rehearsal, pinned":     {func(in *Input) { in.Rehearse, in.Job.Runtime = true, "out" }, "standin", "", "takes the place of out"},
		"a rehearsal of internal": {func(in *Input) { in.Rehearse, in.Job.Runtime = true, "internal" }, "standin", "", "internal"},
		"a rehearsed fallback": {
			func(in *Input) {
				in.Rehearse, in.Job.Runtime, in.Job.Model = true, "out", "old"
				in.Job.Fallbacks = []spec.Fallback{{Runtime: "editor", Model: "new"}}
				in.Tried = []Tried{{Runtime: "standin", Model: "old", Reason: runtime.ReasonAuth}}
			}, "standin", "new", "declared fallback: out ended with auth; the stand-in takes the place of editor",
		},
		"a rehearsal, nothing there":    {func(in *Input) { in.Rehearse, in.Profiles = true, profiles(standin) }, "standin", "", "policy would choose"},
		"the stand-in, named":           {func(in *Input) { in.Job.Runtime = "standin" }, "standin", "", "named by the spec"},
		"an unknown model, partly list": {func(in *Input) { partial(in); in.Job.Runtime, in.Job.Model = "editor", "new" }, "editor", "new", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, block := Choose(input(c.change))
			if block != nil {
				t.Fatalf("blocked: %+v", block)
			}
			if r.Runtime != c.runtime || r.Model != c.model || !strings.Contains(r.Why, c.why) {
				t.Errorf("%s, model %q: %s", r.Runtime, r.Model, r.Why)
			}
		})
	}
}

func partial(in *Input) {
	p := editor
	p.ModelsPartial = true
	in.Profiles = profiles(p)
}

func TestBlocked(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Input)
		reason runtime.Reason
		detail string
		next   string
	}{
		"a pin that is not live": {
			func(in *Input) { in.Job.Runtime = "out" }, runtime.BlockedNoRoute, "out: unavailable: signed out", "type `out login`",
		},
		"a pin that nobody knows": {func(in *Input) { in.Job.Runtime = "ghost" }, runtime.BlockedNoRoute, "ghost: no runtime of this name", "doctor"},
		"internal":                {func(in *Input) { in.Job.Runtime = "internal" }, runtime.BlockedNoRoute, "no runtime of this name", "doctor"},
		"nothing installed": {
			func(in *Input) { in.Profiles = profiles(exec) }, runtime.BlockedNoRoute, "no coding-agent runtime", "install a coding agent",
		},
		"none of those that are known is installed": {
			func(in *Input) { in.Profiles = profiles(absent("one"), absent("two"), exec) }, runtime.BlockedNoRoute,
			"not installed: one, two", "install a coding agent",
		},
		"the one that is installed is nearest": {
			func(in *Input) { in.Profiles = profiles(absent("one"), signed) }, runtime.BlockedNoRoute,
			"out: unavailable: signed out; not installed: one", "type `out login`",
		},
		"a pin that is not installed": {
			func(in *Input) { in.Profiles, in.Job.Runtime = profiles(absent("one"), signed), "one" }, runtime.BlockedNoRoute,
			"one: unavailable: no executable", "install one",
		},
		"only the stand-in": {func(in *Input) { in.Profiles = profiles(standin) }, runtime.BlockedNoRoute, "no coding-agent", "rehearse"},
		"unverified is never routed": {
			func(in *Input) {
				p := editor
				p.State, p.Reason = runtime.StateUnverified, "its answer could not be read"
				in.Profiles = profiles(p)
			}, runtime.BlockedNoRoute, "unverified: its answer could not be read", "doctor",
		},
		"a model that is not listed": {
			func(in *Input) { in.Job.Runtime, in.Job.Model = "editor", "new" }, runtime.BlockedNoRoute,
			"model new is wanted by the spec and is not in its live list", "big, small",
		},
		"no way to ask for a model": {
			func(in *Input) {
				p := editor
				p.Controls = nil
				in.Profiles, in.Job.Model = profiles(p), "big"
			}, runtime.BlockedNoRoute, "no way to ask for a model", "leave the model out",
		},
		"a pin that is misspelt": {
			func(in *Input) { in.Job.Runtime, in.Known = "edito", []string{"boxed", "editor"} },
			runtime.BlockedNoRoute, "edito: no runtime of this name is known here; did you mean editor?", "doctor",
		},
		"an agent that is not listed": {
			func(in *Input) { in.Job.Runtime, in.Job.Agent = "editor", "nobody" }, runtime.BlockedNoRoute, "agent nobody", "helper",
		},
		"an effort that is not exposed": {
			func(in *Input) { in.Job.Runtime, in.Job.Effort = "editor", "max" }, runtime.BlockedNoRoute, "effort max is not exposed for model big, nor is a higher one", "low, high",
		},
		"below the floor": {
			func(in *Input) { in.Job.Runtime, in.Job.Model, in.Tiers.Capability = "editor", "small", policy.C3 },
			runtime.BlockedCapability, "its capability is C2", "capability: C3",
		},
		"a plain program that judges": {
			func(in *Input) { runs(in); in.Job.Task, in.Tiers.Capability = "review", policy.C3 },
			runtime.BlockedCapability, "never a reviewer", "coding agent",
		},
		"no rehearsed fallback left": {
			func(in *Input) {
				in.Rehearse, in.Tried = true, []Tried{{Runtime: "standin", Reason: runtime.ReasonQuota}}
			},
			runtime.BlockedNoRoute, "no declared fallback is left after standin ended with quota", "add a fallback_runtime",
		},
		"no fallback left": {
			func(in *Input) {
				in.Job.Runtime, in.Tried = "editor", []Tried{{Runtime: "editor", Reason: runtime.ReasonQuota}}
			}, runtime.BlockedNoRoute, "no declared fallback is left after editor ended with quota", "fallback_runtime",
		},
		"a policy choice is not replaced after a failure": {
			func(in *Input) { in.Tried = []Tried{{Runtime: "boxed", Reason: runtime.ReasonAuth}} },
			runtime.BlockedNoRoute, "no declared fallback", "",
		},
		"tool limits that cannot be built": {
			func(in *Input) {
				in.Job.Runtime, in.Job.AllowedTools = "editor", []string{"Odd"}
				in.Builds = needsShell
			}, runtime.BlockedRiskControls, "no Odd for read", "allowed_tools",
		},
		"the nearest candidate gives the reason": {
			func(in *Input) { in.Tiers.Capability, in.Profiles = policy.C3, profiles(signed, flat(editor)) },
			runtime.BlockedCapability, "out: unavailable", "capability: C3",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(c.change)
			r, block := Choose(in)
			if block == nil {
				t.Fatalf("routed to %s", r.Runtime)
			}
			if block.Reason != c.reason || !strings.Contains(block.Detail, c.detail) || !strings.Contains(block.NextStep, c.next) {
				t.Errorf("%+v", block)
			}
			if block.NextStep == "" || r.Risk != string(in.Tiers.Risk) {
				t.Errorf("no next step or no tier: %+v, %+v", block, r)
			}
			for _, cand := range r.Candidates {
				if cand.Chosen || len(cand.Reasons) == 0 {
					t.Errorf("candidate %+v", cand)
				}
			}
		})
	}
}

func absent(name string) runtime.Profile {
	return runtime.Profile{Runtime: name, Kind: runtime.KindCLI, State: runtime.StateUnavailable, Reason: "no executable", NextStep: "install one"}
}

// flat exposes no reasoning depth, and so is C2.
func flat(p runtime.Profile) runtime.Profile {
	p.Models = nil
	return p
}

func TestEveryCandidateHasItsReasons(t *testing.T) {
	r, _ := Choose(input(func(*Input) {}))
	want := map[string]string{
		"boxed":  "C3 (live model list: big has a reasoning-depth control (low, high)); writes bounded by read-only and its own sandbox",
		"editor": "C3 (live model list: big has a reasoning-depth control (low, high)); writes bounded by read-only; qualified, but comes after boxed by control strength",
		"out":    "unavailable: signed out",
	}
	got := map[string]string{}
	for _, c := range r.Candidates {
		got[c.Runtime] = strings.Join(c.Reasons, "; ")
		if c.Chosen != (c.Runtime == "boxed") {
			t.Errorf("chosen: %+v", c)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAccessAndIsolation(t *testing.T) {
	on := func(p runtime.Profile, changes ...func(*Input)) func(*Input) {
		return func(in *Input) {
			in.Profiles = profiles(p, exec)
			for _, c := range changes {
				c(in)
			}
		}
	}
	shell := func(in *Input) { in.Job.AllowedTools, in.Builds = []string{"Read", "run_it"}, needsShell }
	beside := func(in *Input) { in.Isolate = "may run beside another writer (b)" }
	r2 := func(in *Input) { in.Tiers.Risk, in.Tiers.RiskWhy = policy.R2, "untrusted input" }
	noGit := func(in *Input) { in.NoWorktree = "not a git repository" }
	isolation := func(s string) func(*Input) { return func(in *Input) { in.Job.Isolation = s } }
	for name, c := range map[string]struct {
		change      func(*Input)
		access      runtime.Access
		isolation   string
		why         string
		constrained string
		blocked     string // detail; the reason is always risk_controls
	}{
		"R0 by a read-only mode":           {on(editor), "read", "none", "", "", ""},
		"R0 where nothing bounds writes":   {on(open), "read", "worktree", "nothing was shown to bound what it writes", "no enforced write boundary", ""},
		"R0 with a shell":                  {on(editor, shell), "shell", "worktree", "its shell is not confined", "shell not confined", ""},
		"R0 with a shell in a sandbox":     {on(boxed, shell), "shell", "none", "", "", ""},
		"R1 by edits without a shell":      {on(editor, writes), "edit", "none", "", "", ""},
		"R1 by a sandbox":                  {on(boxed, writes), "edit", "none", "", "", ""},
		"R1 with a shell":                  {on(editor, writes, shell), "shell", "worktree", "its shell is not confined", "shell not confined", ""},
		"R1 where nothing bounds writes":   {on(agent("open", runtime.ControlToolLimits), writes), "edit", "worktree", "nothing was shown", "no enforced write boundary", ""},
		"R1 where tools cannot be limited": {on(open, writes), "", "", "", "", "its tools cannot be limited"},
		"R1 beside another writer":         {on(editor, writes, beside), "edit", "worktree", "may run beside another writer (b)", "", ""},
		"R2":                               {on(boxed, writes, r2), "edit", "worktree", "R2: untrusted input", "", ""},
		"R2 without a sandbox":             {on(editor, writes, r2), "edit", "worktree", "R2: untrusted input", "no OS sandbox", ""},
		"R2 that only observes":            {on(editor, r2), "read", "worktree", "R2: untrusted input", "no OS sandbox", ""},
		"a worktree by the spec":           {on(editor, isolation("worktree")), "read", "worktree", "", "", ""},
		"exec that observes":               {on(exec, runs), "shell", "none", "", "a plain program", ""},
		"exec that writes":                 {on(exec, runs, execWrites), "shell", "worktree", "nothing bounds what a plain program writes", "a plain program", ""},
		"no repository, a writer":          {on(editor, writes, noGit), "", "", "", "", "neither told nor captured: not a git repository"},
		"no repository, but one is needed": {on(editor, beside, noGit, isolation("worktree")), "", "", "", "", "none can be made: not a git repository"},
		"none written out, but needed":     {on(editor, writes, r2, isolation("none")), "", "", "", "", "says isolation: none"},
		"none written out, exec writes":    {on(exec, runs, execWrites, isolation("none")), "", "", "", "", "nothing bounds what a plain program writes"},
		"none written out, and right":      {on(editor, writes, isolation("none")), "edit", "none", "", "", ""},
		"no repository, worktree by spec":  {on(editor, isolation("worktree"), noGit), "", "", "", "", "the job says so"},
	} {
		t.Run(name, func(t *testing.T) {
			r, block := Choose(input(c.change))
			if c.blocked != "" {
				if block == nil || block.Reason != runtime.BlockedRiskControls || !strings.Contains(block.Detail, c.blocked) || block.NextStep == "" {
					t.Errorf("%+v", block)
				}
				return
			}
			if block != nil {
				t.Fatalf("blocked: %+v", block)
			}
			if r.Access != string(c.access) || r.Isolation != c.isolation || !strings.Contains(r.IsolationWhy, c.why) || c.why == "" && r.IsolationWhy != "" {
				t.Errorf("access %s, isolation %s (%s)", r.Access, r.Isolation, r.IsolationWhy)
			}
			if got := strings.Join(r.Constrained, "; "); !strings.Contains(got, c.constrained) || c.constrained == "" && got != "" {
				t.Errorf("constrained: %s", got)
			}
			if slices.Contains(r.Controls, ControlWorktree) != (c.isolation == "worktree") {
				t.Errorf("controls: %v", r.Controls)
			}
		})
	}
}

func execWrites(in *Input) {
	in.Job.Effect, in.Job.OwnedPaths, in.Tiers.Risk = "scoped-write", []string{"out/**"}, policy.R1
}

func TestControlsAreListed(t *testing.T) {
	r, _ := Choose(input(func(in *Input) { writes(in); in.Profiles, in.Isolate = profiles(editor), "why" }))
	want := []string{"cwd", "timeout", "capture", "edits-only", "tool-limits", "worktree", "patch", "owned-paths"}
	if diff := cmp.Diff(want, r.Controls); diff != "" {
		t.Error(diff)
	}
	r, _ = Choose(input(func(*Input) {}))
	if diff := cmp.Diff([]string{"cwd", "timeout", "capture", "read-only", "fingerprint"}, r.Controls); diff != "" {
		t.Error(diff)
	}
}

// What the operator lets a project set is not kept out, and the adapter is told.
func TestAProjectThatIsLetInIsNotKeptOut(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		told := !allowed
		r, block := Choose(input(func(in *Input) {
			in.Profiles = profiles(agent("kept", runtime.ControlReadOnly, runtime.ControlNoProject))
			in.Operator.Runtimes = map[string]policy.RuntimeRule{"kept": {Project: allowed}}
			in.Builds = func(_ string, req runtime.Request) error { told = req.Project; return nil }
		}))
		if block != nil || slices.Contains(r.Controls, "no-project") == allowed || told != allowed {
			t.Errorf("allowed %t: controls %q, told %t, %+v", allowed, r.Controls, told, block)
		}
	}
}

func TestLimitsOfAConstrainedRuntimeAreRecorded(t *testing.T) {
	r, _ := Choose(input(func(in *Input) {
		p := editor
		p.State, p.Limits = runtime.StateConstrained, []string{"sign-in by a key"}
		in.Profiles = profiles(p)
	}))
	if !slices.Contains(r.Constrained, "sign-in by a key") {
		t.Errorf("%v", r.Constrained)
	}
}

func TestFallbackReason(t *testing.T) {
	r, _ := Choose(input(func(in *Input) { in.Job.Runtime, in.Job.Fallbacks = "out", fallbacks("editor") }))
	if got := FallbackReason(r); got != "out: unavailable: signed out" {
		t.Errorf("%q", got)
	}
	r, _ = Choose(input(func(*Input) {}))
	if got := FallbackReason(r); got != "" {
		t.Errorf("%q", got)
	}
}

func TestReviewsPreferAnotherFamily(t *testing.T) {
	review := func(producers ...string) Input {
		return input(func(in *Input) {
			in.Job.Task, in.Tiers.Capability = "review", policy.C3
			for i, f := range producers {
				in.Producers = append(in.Producers, Producer{Job: "p" + string(rune('1'+i)), Family: f})
			}
		})
	}
	for name, c := range map[string]struct {
		in           Input
		runtime      string
		independence string
	}{
		"by itself, the stronger":  {review(), "boxed", ""},
		"another family":           {review("maker-of-boxed"), "editor", "independent"},
		"known and different":      {review("third"), "boxed", "independent"},
		"all families are present": {review("maker-of-boxed", "maker-of-editor"), "boxed", "not-independent: job p1 was done by the same family (maker-of-boxed)"},
		"an unknown producer":      {review("third", ""), "boxed", "not-independent: the family that did job p2 is unknown"},
	} {
		r, block := Choose(c.in)
		if block != nil || r.Runtime != c.runtime || r.Independence != c.independence {
			t.Errorf("%s: %s, %q, %+v", name, r.Runtime, r.Independence, block)
		}
	}
	in := review("third")
	p := boxed
	p.Family = ""
	in.Profiles = profiles(p)
	if r, _ := Choose(in); r.Independence != "not-independent: its own family is unknown" {
		t.Errorf("unknown family: %q", r.Independence)
	}
}

func TestArbiterRoute(t *testing.T) {
	base := func(change func(*ArbiterInput)) ArbiterInput {
		in := ArbiterInput{Dir: "/w", Profiles: profiles(editor, boxed, exec, standin), Producers: []Producer{{Job: "a", Family: "maker-of-boxed"}}}
		change(&in)
		return in
	}
	r, block := ArbiterRoute(base(func(*ArbiterInput) {}))
	if block != nil || r.Runtime != "editor" || r.Independence != "independent" || r.Access != "read" || r.CapabilityFloor != "C3" || r.Risk != "R0" || r.Isolation != "none" {
		t.Errorf("%+v, %+v", r, block)
	}
	r, block = ArbiterRoute(base(func(in *ArbiterInput) { in.Arbiter.Runtime = "boxed" }))
	if block != nil || r.Runtime != "boxed" || !strings.HasPrefix(r.Independence, "not-independent: job a") {
		t.Errorf("pinned: %+v, %+v", r, block)
	}
	for _, require := range []bool{false, true} { // only plain programs did the work
		r, block = ArbiterRoute(base(func(in *ArbiterInput) {
			in.Arbiter.Runtime, in.Producers, in.Arbiter.RequireIndependent = "boxed", nil, require
		}))
		if block != nil || r.Independence != OfNoAgent || !IsIndependent(r.Independence) {
			t.Errorf("no agent, required %v: %+v, %+v", require, r, block)
		}
	}
	r, block = ArbiterRoute(base(func(in *ArbiterInput) {
		in.Arbiter.Runtime, in.Producers, in.Arbiter.RequireIndependent = "boxed", []Producer{{Job: "a"}}, true
	}))
	if block == nil || block.Reason != runtime.BlockedIndependence {
		t.Errorf("an agent of an unknown family: %+v, %+v", r, block)
	}
	r, block = ArbiterRoute(base(func(in *ArbiterInput) { in.Rehearse, in.Arbiter.RequireIndependent = true, true }))
	if block != nil || r.Runtime != "standin" {
		t.Errorf("rehearsal: %+v, %+v", r, block)
	}
}

func TestArbiterBlocked(t *testing.T) {
	for name, c := range map[string]struct {
		in     ArbiterInput
		reason runtime.Reason
		next   string
	}{
		"nothing installed": {ArbiterInput{Profiles: profiles(exec)}, runtime.BlockedNoRoute, "install a coding agent"},
		"signed out":        {ArbiterInput{Profiles: profiles(signed)}, runtime.BlockedNoRoute, "type `out login`"},
		"below C3":          {ArbiterInput{Profiles: profiles(flat(editor))}, runtime.BlockedCapability, "capability: C3"},
		"exec":              {ArbiterInput{Profiles: profiles(exec), Arbiter: spec.Arbiter{Runtime: "exec"}}, runtime.BlockedCapability, "coding agent"},
		"not read-only":     {ArbiterInput{Profiles: profiles(open)}, runtime.BlockedRiskControls, "read-only mode"},
		"not independent": {
			ArbiterInput{
				Profiles: profiles(boxed), Producers: []Producer{{Job: "a", Family: "maker-of-boxed"}},
				Arbiter: spec.Arbiter{RequireIndependent: true},
			}, runtime.BlockedIndependence, "another maker",
		},
	} {
		_, block := ArbiterRoute(c.in)
		if block == nil || block.Reason != c.reason || !strings.Contains(block.NextStep, c.next) {
			t.Errorf("%s: %+v", name, block)
			continue
		}
		for _, way := range []string{"checks-only", "orchestrate rehearse"} {
			if !strings.Contains(block.NextStep, way) {
				t.Errorf("%s: no %s in %q", name, way, block.NextStep)
			}
		}
	}
}

// What an adapter cannot do at all is no reason to give it more.
func TestAccessIsRaisedForToolsOnly(t *testing.T) {
	r, block := Choose(input(func(in *Input) {
		in.Profiles, in.Job.AllowedTools = profiles(boxed), []string{"Read"}
		in.Builds = func(_ string, req runtime.Request) error {
			if req.Access != runtime.AccessShell {
				return errors.New("nothing keeps it from writing")
			}
			return nil
		}
	}))
	if block == nil || block.Detail != "boxed: nothing keeps it from writing" {
		t.Errorf("%q, %+v", r.Access, block)
	}
}

// needsShell is an adapter that has one tool, run_it, for a shell only.
func needsShell(_ string, req runtime.Request) error {
	for _, tool := range req.AllowedTools {
		switch {
		case tool == "Read", tool == "run_it" && req.Access == runtime.AccessShell, tool == "Edit" && req.Access != runtime.AccessRead:
		default:
			return errors.New("no " + tool + " for " + string(req.Access))
		}
	}
	return nil
}

func TestTheAdapterSaysWhichToolsNeedAShell(t *testing.T) {
	for name, c := range map[string]struct {
		tools  []string
		access string
		detail string // of the block
	}{
		"reading":                      {[]string{"Read"}, "read", ""},
		"a shell":                      {[]string{"Read", "run_it"}, "shell", ""},
		"edits are not for observers":  {[]string{"Edit"}, "", "no Edit for read"},
		"a tool that is nowhere":       {[]string{"Fly"}, "", "no Fly for read; and with a shell: no Fly for shell"},
		"an empty list is a list":      {[]string{}, "read", ""},
		"the adapter's own set at all": {nil, "read", ""},
	} {
		r, block := Choose(input(func(in *Input) {
			in.Profiles, in.Job.AllowedTools, in.Builds = profiles(boxed), c.tools, needsShell
		}))
		if r.Access != c.access || (block == nil) != (c.detail == "") || block != nil && !strings.HasSuffix(block.Detail, c.detail) {
			t.Errorf("%s: %q, %+v", name, r.Access, block)
		}
	}
}

// A pin that cannot be met is told once: the adapter, which could not build it either, is
// not asked.
func TestAPinIsToldOnce(t *testing.T) {
	in := input(func(in *Input) {
		in.Job.Runtime, in.Job.Agent = "editor", "nobody"
		in.Builds = func(string, runtime.Request) error { return errors.New("it has no agent nobody") }
	})
	_, block := Choose(in)
	if block == nil || strings.Count(block.Detail, "nobody") != 1 {
		t.Errorf("%+v", block)
	}
	r, _ := Choose(in)
	if got := r.Candidates[0].Reasons; len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// A model that a list which is not complete lacks may be misspelt.
func TestAMisspeltModelOnAPartialList(t *testing.T) {
	for model, want := range map[string]bool{"sonnata-5": true, "unlike": false} {
		in := input(func(in *Input) {
			p := editor
			p.Models, p.ModelsPartial = []runtime.Model{{ID: "sonata-5"}}, true
			in.Profiles, in.Job.Runtime, in.Job.Model = profiles(p), "editor", model
		})
		r, _ := Choose(in)
		if got := strings.Contains(strings.Join(r.Constrained, "; "), "did you mean sonata-5?"); got != want {
			t.Errorf("%s: %q", model, r.Constrained)
		}
	}
}
