package route

import (
	"cmp"
	"slices"

	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
)

// Controls that the engine itself supplies, beside those of runtime.ControlName.
const (
	ControlCwd         = "cwd"         // an explicit working folder
	ControlTimeout     = "timeout"     // a bounded time
	ControlCapture     = "capture"     // bounded, redacted capture
	ControlFingerprint = "fingerprint" // the shared checkout is compared before and after
	ControlWorktree    = "worktree"    // a tree of its own
	ControlPatch       = "patch"       // its changes are captured as a patch
	ControlOwnership   = "owned-paths" // changed files are held against owned_paths
)

// checkControls settles what the option may write and what holds it to that, and
// raises the isolation where the boundary is weaker than the tier needs.
func (in Input) checkControls(o *option) {
	in.grantAccess(o)
	in.bound(o)
	in.hold(o)
	in.isolate(o)
	in.checkShell(o)
	in.checkSandbox(o)
	in.checkToolLimits(o)
	in.noteConstraints(o)
	in.listControls(o)
	in.compareControls(o)
	in.checkOutputs(o)
	in.checkSessions(o)
	if o.buildErr != "" {
		o.fail(runtime.BlockedRiskControls, "change what the job asks for (allowed_tools above all), or name another runtime", "%s", o.buildErr)
	}
}

// grantAccess grants no more than the job needs: edits only to a writer, a shell only
// when allowed_tools asks for one. Which tools are a shell's the adapter knows: they
// are those that it can give with a shell and with nothing less.
func (in Input) grantAccess(o *option) {
	if o.hosted() {
		in.grantHosted(o)
		in.checkHostedTools(o)
		return
	}
	o.access = runtime.AccessRead
	switch {
	case o.profile.Kind == runtime.KindExec:
		o.access = runtime.AccessShell
	case in.Job.Writes():
		o.access = runtime.AccessEdit
	}
	tools := in.Job.AllowedTools
	o.buildErr = in.builds(o, o.access, tools)
	switch {
	case o.buildErr == "" || len(tools) == 0:
		return
	case in.builds(o, o.access, nil) != "": // the tools are not the reason
		return
	case in.builds(o, runtime.AccessEdit, tools) == "": // an observer that asks for edits gets none
		return
	}
	switch withShell := in.builds(o, runtime.AccessShell, tools); withShell {
	case "":
		o.access, o.buildErr = runtime.AccessShell, ""
	case o.buildErr:
	default:
		o.buildErr += "; and with a shell: " + withShell
	}
}

// builds asks the adapter whether it can build the command under an access with these
// tools, nil = its own set; "" = it can.
func (in Input) builds(o *option, a runtime.Access, tools []string) string {
	if in.Builds == nil || o.hosted() || o.against(critPins) != "" { // it would say the same of the pin again
		return ""
	}
	req := in.request(o)
	req.Access, req.AllowedTools = a, tools
	if err := in.Builds(o.name, req); err != nil {
		return err.Error()
	}
	return ""
}

// makeRepository is what a person can do where no worktree can be made.
const makeRepository = "make the workspace a git repository with a commit (`git init && git add -A && git commit`), or let the job only observe"

// isolate decides where the job works. "isolation: none" written out is never
// overruled: the option fails instead.
func (in Input) isolate(o *option) {
	why := in.whyIsolate(o)
	o.isolation = InCheckout
	if in.Job.Writes() && in.NoWorktree != "" {
		o.fail(runtime.BlockedRiskControls,
			cmp.Or(in.NoWorktreeNext, makeRepository), "what it changes can be neither told nor captured: %s", in.NoWorktree)
		return
	}
	switch {
	case in.Job.Isolation == InWorktree:
		o.isolation = InWorktree
	case why == "":
		return
	case in.Job.Isolation == InCheckout:
		o.fail(runtime.BlockedRiskControls, "leave isolation out or write `isolation: worktree`",
			"the job says isolation: none, but needs a worktree: %s", why)
		return
	default:
		o.isolation, o.isolationWhy = InWorktree, why
	}
	if in.NoWorktree != "" {
		next := cmp.Or(in.NoWorktreeNext, makeRepository)
		if in.Job.Task == policy.TaskArbiter {
			next = "name an arbiter with a read-only mode"
		}
		o.fail(runtime.BlockedRiskControls, next, "it needs a worktree of its own (%s), but none can be made: %s", cmp.Or(why, "the job says so"), in.NoWorktree)
	}
}

// whyIsolate says why the job needs a tree of its own on this option.
func (in Input) whyIsolate(o *option) string {
	exec := o.profile.Kind == runtime.KindExec
	switch {
	case in.Isolate != "":
		return in.Isolate
	case slices.ContainsFunc(in.Tried, func(t Tried) bool { return slices.Contains(t.Controls, ControlWorktree) }):
		return "an earlier attempt had a worktree"
	case !o.tiers.Risk.Less(policy.R2):
		return string(o.tiers.Risk) + ": " + o.tiers.RiskWhy
	case o.hosted() && in.Job.Writes():
		return "nothing of ours holds the hosting session's agent to the files it owns"
	case in.Sandbox.Holds() && in.Job.Writes() && in.Unboxed != "": // its checks are in the box, whatever it is in itself
		return "the engine's sandbox cannot bound it in the shared checkout: " + in.Unboxed
	case o.hosted(): // one that observes is held by the checkout's fingerprint
		return ""
	case o.bounded():
		return ""
	case exec && in.Job.Writes():
		return "nothing bounds what a plain program writes"
	case exec: // an observing program is held by the checkout's fingerprint
		return ""
	case o.access == runtime.AccessShell:
		return "its shell is not confined"
	}
	return "nothing was shown to bound what it writes"
}

// checkShell: from R2 on an agent's shell is held by a sandbox. A tree of its own holds
// no shell, and what it is asked to do may come from anybody.
func (in Input) checkShell(o *option) {
	if o.tiers.Risk.Less(policy.R2) || o.access != runtime.AccessShell || o.profile.Kind == runtime.KindExec || o.sandbox != "" {
		return
	}
	o.fail(runtime.BlockedRiskControls, "name a runtime with a sandbox, or take the shell out of allowed_tools",
		"%s (%s) needs a sandbox for its shell, and none was shown", o.tiers.Risk, o.tiers.RiskWhy)
}

// checkSandbox: from R2 on the job is in a sandbox wherever this host has one, and at R3
// nothing less than an enforced boundary will do.
func (in Input) checkSandbox(o *option) {
	switch {
	case o.tiers.Risk.Less(policy.R2):
	case in.Sandbox.Holds() && o.sandbox == "":
		o.fail(runtime.BlockedRiskControls, "name a runtime that works in the engine's sandbox, or whose own can be shown to hold",
			"%s (%s) needs a sandbox; %s", o.tiers.Risk, o.tiers.RiskWhy, in.whyUnboxed(o))
	case o.tiers.Risk == policy.R3 && !o.bounded():
		o.fail(runtime.BlockedRiskControls, "run it where a sandbox holds it (`orchestrate doctor` says what this host enforces), or do this step by hand",
			"R3 (%s) needs an enforced boundary, and %s", o.tiers.RiskWhy, cmp.Or(in.whyUnboxed(o), "none was shown"))
	}
}

// checkToolLimits: a writer's tools are limited, or whatever they do is held by a
// sandbox. A plain program has no tools.
func (in Input) checkToolLimits(o *option) {
	p := o.profile
	if !in.Job.Writes() || p.Kind != runtime.KindCLI && !o.hosted() || p.Has(runtime.ControlToolLimits) || o.sandbox != "" {
		return
	}
	o.fail(runtime.BlockedRiskControls, "name a runtime whose tools can be limited, or let the job only observe",
		"its tools cannot be limited and no sandbox was shown to hold it")
}

// noteConstraints records in which ways the option is weaker than one would wish.
func (in Input) noteConstraints(o *option) {
	note := func(s ...string) { o.constrained = append(o.constrained, s...) }
	if o.profile.State == runtime.StateConstrained {
		note(o.profile.Limits...)
	}
	if o.profile.ApprovesAll {
		note("it approves everything by itself when nobody watches")
	}
	if more := o.excess(); more != "" {
		note(more)
	}
	if weak := in.weakness(o); weak != "" {
		note(weak)
		if why := in.whyUnboxed(o); why != "" {
			note(why)
		}
	}
}

// weakness says what the boundary of the option leaves open; "" = nothing that its tier
// would want closed.
func (in Input) weakness(o *option) string {
	switch {
	case o.sandbox != "":
		return ""
	case o.native != "" && o.tiers.Risk.Less(policy.R2):
		return ""
	case o.native != "":
		return "no OS sandbox: writes are bounded by " + string(o.native) + " alone"
	case o.profile.Kind == runtime.KindExec:
		return "a plain program: no enforced write boundary"
	case o.access == runtime.AccessShell:
		return runtime.LimitShell
	}
	return "no enforced write boundary was shown"
}

func (in Input) listControls(o *option) {
	o.controls = []string{ControlCwd, ControlTimeout, ControlCapture}
	if o.hosted() { // nothing of ours keeps it in its folder or ends its time
		o.controls = []string{ControlCapture}
	}
	add := func(when bool, name string) {
		if when {
			o.controls = append(o.controls, name)
		}
	}
	o.controls = append(o.controls, o.bounds()...)
	add(o.profile.Has(runtime.ControlToolLimits), string(runtime.ControlToolLimits))
	add(o.profile.Has(runtime.ControlNoProject) && !in.project(o), string(runtime.ControlNoProject))
	add(o.isolation == InWorktree, ControlWorktree)
	add(o.isolation == InCheckout && !in.Job.Writes(), ControlFingerprint)
	add(in.Job.Writes(), ControlPatch)
	add(in.Job.Writes(), ControlOwnership)
}

// request is the option as the adapter would get it, as far as it is known before
// dispatch.
func (in Input) request(o *option) runtime.Request {
	return runtime.Request{
		Job: in.Job.ID, Attempt: len(in.Tried) + 1, Task: in.Job.Task, Argv: in.Job.Command, Dir: in.Job.Cwd,
		Access: o.access, Model: o.model, Agent: in.agentFor(o), Effort: o.effort,
		AllowedTools: in.Job.AllowedTools, DisallowedTools: in.Job.DisallowedTools, Project: in.project(o),
	}
}

// project reports whether the operator lets a project's own hooks and settings apply.
func (in Input) project(o *option) bool { return in.Operator.Runtimes[o.name].Project }
