package spec

import "slices"

// jobView is one job of the document over the defaults.
type jobView struct {
	made
	def   value
	repo  value // what the repository sets
	job   *Job
	after *jobView // the job whose session it goes on with, nil = none
}

// agentOnly are the fields that mean nothing to a plain program. In defaults
// they are for the other jobs; said by an exec job they are a mistake.
var agentOnly = [...]string{"fallback_runtime", "agent", "model", "effort", "prompt_file", "skill", "instructions", "allowed_tools", "disallowed_tools", "max_turns"}

// get is the job's own value of a field, else the spec's default, else what the
// repository sets.
func (v jobView) get(key string) value {
	own := v.own.field(key)
	if own.present() {
		return own
	}
	if v.after != nil && slices.Contains(ofSession[:], key) {
		return v.after.get(key)
	}
	if !v.inherits(key) {
		return own
	}
	if def := v.def.field(key); def.present() {
		return def
	}
	if repo := v.repo.field(key); repo.present() && (!v.program() || slices.Contains(forPrograms, key)) {
		return repo
	}
	return own
}

// inherits reports whether the default of a field is for this job: what a job
// says about where its text comes from replaces what the defaults say about it.
func (v jobView) inherits(key string) bool {
	switch {
	case v.seed.Gather != nil: // nobody is asked
		return key == "cwd" || key == "timeout" || key == "expected_output"
	case v.bare && slices.Contains(ownTexts[:], key), v.after != nil && (key == "fallback_runtime" || key == "command"):
		return false
	}
	switch key {
	case "prompt_file", "command":
		for _, other := range []string{"prompt", "prompt_file", "command"} {
			if v.own.field(other).present() {
				return false
			}
		}
	}
	return !v.program() || !slices.Contains(agentOnly[:], key)
}

// program reports whether the job runs a plain program.
func (v jobView) program() bool {
	if v.after != nil {
		return v.own.field("command").present()
	}
	if v.own.field("worker").field("command").present() {
		return true
	}
	runtime := v.own.field("runtime")
	if !runtime.present() {
		runtime = v.def.field("runtime")
	}
	return runtime.text() == "exec" || v.own.field("command").present()
}

// dependencies adds those that follow from what else the job says.
func (v jobView) dependencies() {
	j := v.job
	on := slices.Concat(j.DependsOn, v.seed.DependsOn)
	for _, in := range j.Inputs {
		on = append(on, in.FromJob)
	}
	on = append(on, j.Worktree.Base, j.Continue)
	on = slices.DeleteFunc(on, func(id string) bool { return id == "" })
	if j.DependsOn != nil || len(on) > 0 {
		j.DependsOn = distinct(on)
	}
}
