package route

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
)

// option is one runtime with a model that is considered for the job.
type option struct {
	name     string
	profile  runtime.Profile
	known    bool
	model    string // as on the command line; "" = the runtime's default
	unlisted bool   // its live list, which is not complete, does not name the model
	modelBy  string // who asked for it: the spec, or task, the operator's configuration; "" = nobody
	agent    string // of the hosting session; "" = it has none, or is another runtime
	match    match  // how well that one fits the job
	group    int    // 0 = the job's own choice, n = its n-th declared fallback
	later    bool   // of its group, after those that are not: see Input.Internal
	ranked   bool   // chosen by policy rather than named
	testing  string // the criterion that it is being held against
	failures []failure

	capability       policy.Capability
	capabilitySource string
	family           string
	independence     string
	effort           string // as on the command line
	effortWhy        string // "" = as the spec says
	access           runtime.Access
	buildErr         string // why its adapter cannot build the command; "" = it can
	isolation        string
	isolationWhy     string
	tiers            policy.Tiers        // those of the job, raised where the runtime needs it
	native           runtime.ControlName // the mode of its own that bounds its writes; "" = none
	sandbox          string              // whose sandbox holds it; "" = nobody's
	controls         []string
	constrained      []string
}

// failure is one thing that speaks against an option.
type failure struct {
	criterion string
	reason    runtime.Reason
	detail    string
	next      string // what a person can do
}

func (o *option) fail(reason runtime.Reason, next, format string, args ...any) {
	o.failures = append(o.failures, failure{o.testing, reason, fmt.Sprintf(format, args...), next})
}

// absent reports whether the program is not installed at all.
func (o *option) absent() bool {
	return o.profile.Kind == runtime.KindCLI && o.profile.State == runtime.StateUnavailable && o.profile.Executable == nil
}

// reached says how far an option came before it first failed.
func (o *option) reached() int {
	if o.absent() {
		return -1
	}
	return slices.Index([]runtime.Reason{
		runtime.BlockedNoRoute, runtime.BlockedCapability, runtime.BlockedRiskControls, runtime.BlockedSession, runtime.BlockedIndependence,
	}, o.failures[0].reason)
}

// modelNote says which model will answer.
func (o *option) modelNote() string {
	switch {
	case o.model != "":
		return fmt.Sprintf(", model %s (%s)", o.model, o.modelBy)
	case o.profile.DefaultModel != "":
		return ", live default model " + o.profile.DefaultModel
	}
	return ""
}

// merits are the facts that speak for an option.
func (o *option) merits() []string {
	var out []string
	if o.capability != policy.NoCapability {
		out = append(out, fmt.Sprintf("%s (%s)", o.capability, o.capabilitySource))
	}
	if o.bounded() {
		out = append(out, "writes bounded by "+o.held())
	}
	if o.effortWhy != "" {
		out = append(out, "effort "+o.effort+": "+o.effortWhy)
	}
	if o.independence != "" {
		out = append(out, o.independence)
	}
	return append(out, o.constrained...)
}

// options lists what is considered, in order of preference as far as the spec
// gives one: the named runtime or all by policy, then the declared fallbacks.
// After a failed attempt only the fallbacks are left.
func (in Input) options() []*option {
	switch {
	case in.Job.Exec():
		return []*option{in.option(execRuntime, 0)}
	case in.Continues != nil:
		return []*option{in.goneOnWith()}
	case in.Rehearse:
		return in.rehearsed()
	}
	var out []*option
	if len(in.Tried) == 0 {
		out = in.primary()
	}
	for i, f := range in.Job.Fallbacks {
		if f.Runtime == "" {
			out = append(out, in.byPolicy(i+1, out)...)
			continue
		}
		if f.Runtime == runtime.Internal {
			out = append(out, in.sessionFallback(i+1, f.Model)...)
			continue
		}
		o := in.option(f.Runtime, i+1)
		if f.Model != "" {
			o.model, o.modelBy = f.Model, in.asker()
		}
		if !in.tried(o) {
			out = append(out, o)
		}
	}
	return out
}

// rehearsed is the stand-in, in the place of the job's own choice or, after n
// failed routes, of its n-th declared fallback.
func (in Input) rehearsed() []*option {
	n := len(in.Tried)
	if n > len(in.Job.Fallbacks) {
		return nil
	}
	o := in.option(standinRuntime, n)
	o.model, o.modelBy = in.Job.Model, in.asker()
	if n > 0 {
		o.model = in.Job.Fallbacks[n-1].Model
	}
	return []*option{o}
}

// asker is where the person's own word on a job stands: a task of the worker form is in no
// spec that they know of.
func (in Input) asker() string {
	if in.Job.Worker != nil {
		return "the task"
	}
	return "the spec"
}

// part is whose place the stand-in takes after n failed routes.
func (in Input) part(n int) string {
	switch {
	case n > 0:
		return cmp.Or(in.Job.Fallbacks[n-1].Runtime, "the next best by policy")
	case in.Job.Runtime != "":
		return in.Job.Runtime
	}
	return "the agent that policy would choose"
}

// primary is the job's own choice. A model pin binds only its own runtime; without
// one it binds whichever runtime is chosen.
func (in Input) primary() []*option {
	if in.Job.Runtime == "" {
		return in.byPolicy(0, nil)
	}
	if in.Job.Runtime == runtime.Internal {
		return in.pinned(in.session(0))
	}
	return in.pinned([]*option{in.option(in.Job.Runtime, 0)})
}

// pinned are options of which the job wants its own model.
func (in Input) pinned(all []*option) []*option {
	for _, o := range all {
		if in.Job.Model != "" {
			o.model, o.modelBy = in.Job.Model, in.asker()
		}
	}
	return all
}

// byPolicy offers every agent that the operator did not exclude and that is not
// considered already. Special runtimes are taken only when they are named.
func (in Input) byPolicy(group int, already []*option) []*option {
	var out []*option
	for _, name := range slices.Sorted(maps.Keys(in.Profiles)) {
		listed := slices.ContainsFunc(already, func(o *option) bool { return o.name == name })
		if in.Profiles[name].Kind != runtime.KindCLI || !in.Operator.Allows(name) || listed {
			continue
		}
		o := in.option(name, group)
		o.ranked, o.later = true, in.Internal
		if in.Job.Model != "" && in.Job.Runtime == "" && group == 0 {
			o.model, o.modelBy = in.Job.Model, in.asker()
		}
		if !in.triedRuntime(name) {
			out = append(out, o)
		}
	}
	if in.Internal && group == 0 {
		out = append(out, in.pinned(in.session(group))...)
	}
	return out
}

func (in Input) option(name string, group int) *option {
	o := &option{name: name, group: group}
	o.profile, o.known = in.Profiles[name]
	if m := in.Operator.Model(name); m != "" && o.profile.Kind == runtime.KindCLI {
		o.model, o.modelBy = m, "the operator's configuration"
	}
	return o
}

func (in Input) tried(o *option) bool {
	return slices.ContainsFunc(in.Tried, func(t Tried) bool { return t.Runtime == o.name && t.Model == o.model })
}

func (in Input) triedRuntime(name string) bool {
	return slices.ContainsFunc(in.Tried, func(t Tried) bool { return t.Runtime == name })
}
