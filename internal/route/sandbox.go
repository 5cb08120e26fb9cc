package route

import (
	"strings"

	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
)

// What holds the processes of a route; "" = no sandbox does.
const (
	SandboxOwn      = "own"            // the runtime's own, which was shown to hold
	SandboxLandlock = sandbox.Landlock // the engine's
)

// bound settles what keeps the option's writes where they belong: a verified mode of
// its own first, and a kernel's sandbox as the floor under it.
func (in Input) bound(o *option) {
	o.native = native(o.profile, o.access)
	o.sandbox = SandboxOf(o.profile, o.access, in.Own[o.name], in.Sandbox)
	if in.leaves(o) {
		o.native = runtime.ControlArtifacts
	}
}

// leaves reports whether the option is a task of the worker form that observes and may all
// the same leave files in its artifacts folder: where its program can be held to that, and
// the engine's sandbox is the floor under it.
func (in Input) leaves(o *option) bool {
	return in.Job.Worker != nil && !in.Job.Writes() && in.Job.AllowedTools == nil &&
		o.access == runtime.AccessRead && o.sandbox == SandboxLandlock && o.profile.Has(runtime.ControlArtifacts)
}

// native is the verified mode of the program itself that bounds writes under the given
// access; "" when none was shown to.
func native(p runtime.Profile, a runtime.Access) runtime.ControlName {
	by := map[runtime.Access]runtime.ControlName{
		runtime.AccessRead: runtime.ControlReadOnly,
		runtime.AccessEdit: runtime.ControlEditsOnly,
	}[a]
	if by == "" || !p.Has(by) {
		return ""
	}
	return by
}

// SandboxOf says whose sandbox holds a runtime under an access; "" = nobody's. The
// engine's is put around all that has none of its own, and never around what works only
// in its own.
func SandboxOf(p runtime.Profile, a runtime.Access, own bool, host sandbox.Level) string {
	if p.Kind == runtime.KindInternal { // no process of its agents is ours
		return ""
	}
	engines := host.Holds() && !own
	switch {
	case engines && p.Kind == runtime.KindStandin: // its own is a part that it plays
		return SandboxLandlock
	case p.Has(runtime.ControlOSSandbox), own && native(p, a) == runtime.ControlReadOnly:
		return SandboxOwn
	case engines:
		return SandboxLandlock
	}
	return ""
}

// bounded reports whether anything was shown to keep its writes where they belong.
func (o *option) bounded() bool { return o.native != "" || o.sandbox != "" }

// bounds names the controls that do. The read-only mode of a runtime with a sandbox of
// its own is that sandbox.
func (o *option) bounds() (names []string) {
	if o.native != "" {
		names = append(names, string(o.native))
	}
	if o.sandbox == SandboxLandlock || o.sandbox == SandboxOwn && o.native != runtime.ControlReadOnly {
		names = append(names, string(runtime.ControlOSSandbox))
	}
	return names
}

// held says what bounds it, for a person.
func (o *option) held() string {
	var all []string
	if o.native != "" {
		all = append(all, string(o.native))
	}
	switch o.sandbox {
	case SandboxOwn:
		all = append(all, "its own sandbox")
	case SandboxLandlock:
		all = append(all, "the engine's sandbox ("+SandboxLandlock+")")
	}
	return strings.Join(all, " and ")
}

// whyUnboxed says why no sandbox holds the option; "" when one does, or when nobody
// asked what this host enforces.
func (in Input) whyUnboxed(o *option) string {
	switch {
	case o.sandbox != "" || in.Sandbox.State == "":
		return ""
	case in.Sandbox.State == sandbox.Off:
		return "no sandbox: the operator switched it off"
	case !in.Sandbox.Holds():
		return "no sandbox: " + in.Sandbox.Evidence
	}
	if o.hosted() {
		return "no sandbox: its agents are no processes of ours"
	}
	return "no sandbox: it does not work inside the engine's, and its own was not shown to hold"
}

// hold raises the tier of a writer on a runtime that approves everything by itself:
// there it works as at R2, in a worktree and under a sandbox, or not at all.
func (in Input) hold(o *option) {
	o.tiers = in.Tiers
	if !o.profile.ApprovesAll || !in.Job.Writes() {
		return
	}
	const why = "it approves everything by itself when nobody watches"
	refuse := func(next, missing string) {
		o.fail(runtime.BlockedRiskControls, next, "%s, so that it writes only at R2, in a worktree under a sandbox: %s", why, missing)
	}
	switch {
	case in.Tiers.Risk == policy.R3:
		refuse("name a runtime that can be held to what it is allowed", "the job is R3 ("+in.Tiers.RiskWhy+")")
	case o.sandbox == "":
		refuse("name a runtime that can be held to its folder, or let the job only observe", "no sandbox was shown to hold it")
	case policy.CheckNeeded(in.Job, policy.R2) && len(in.Job.Checks) == 0:
		refuse("give the job at least one check, or name another runtime", "at R2 the job needs a check and has none")
	}
	if in.Tiers.Risk.Less(policy.R2) {
		o.tiers.Risk, o.tiers.RiskWhy = policy.R2, in.Tiers.RiskWhy+"; "+o.name+": "+why
	}
}
