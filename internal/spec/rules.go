package spec

import "slices"

// rules checks what a schema cannot say.
func (r *reader) rules(s *Spec, root value, views []jobView) {
	known := r.ids(views)
	r.dependencies(known)
	r.cycles(views, known)
	for _, v := range views {
		r.jobRules(v)
	}
	r.sessions(views, known)
	for _, v := range views {
		r.inputRules(v, known)
		r.baseRules(v, known)
	}
	r.arbiterRules(root.field("arbiter"), s.Arbiter)
	r.gain(root, s)
}

// jobRules checks what one job says alone.
func (r *reader) jobRules(v jobView) {
	r.program(v)
	r.wording(v)
	r.times(v)
	v.job.Cwd = r.cwd(v.get("cwd"), v.job.Item)
	v.job.OwnedPaths = r.ownedPaths(v)
	r.outputRules(v)
	r.texts(v)
	r.promptSource(v)
	r.effects(v)
	r.verifierRules(v)
	r.isolation(v)
	r.checkRules(v)
	r.worktreeRules(v)
	r.hazards(v)
}

// wording checks the fields that may be said in defaults instead.
func (r *reader) wording(v jobView) {
	if v.job.ExpectedOutput == "" {
		r.missing(v.own.field("expected_output"), "say what a good result looks like, here or in defaults")
	}
	if v.job.Task == "" {
		r.missing(v.own.field("task"), "say the kind of work (see orchestrate schema), such as scout, implement or review, or pin a model")
	}
}

// times checks the limits against each other.
func (r *reader) times(v jobView) {
	t := v.get("timeout")
	if !t.present() {
		r.missing(t, "say how long the job may take, such as 10m (0 = the cap of 24h), here or in defaults")
		return
	}
	if v.job.Timeout == MaxTimeout && (t.t.kind == kindNumber || t.text() == "0") {
		r.advise(t, "time", "timeout 0 is the cap of 24h")
	}
	if first := v.get("first_output_timeout"); first.present() && v.job.FirstOutputTimeout >= v.job.Timeout && v.job.Timeout > 0 {
		r.failf(first, "time", "found %s; allowed: less than the job's timeout of %s, which would always end it first", short(v.job.FirstOutputTimeout), short(v.job.Timeout))
	}
}

// program checks that exec and the agents each get what only they can use.
func (r *reader) program(v jobView) {
	j, command := v.job, v.get("command")
	if j.Worker != nil && j.Worker.Command != "" {
		return // the shell that it is for gets the prompt
	}
	switch {
	case j.Runtime == "exec" && !command.present():
		r.missing(v.own.field("command"), "runtime exec runs a program: give it as a list, such as [go, test, ./...]")
	case j.Runtime != "exec" && command.present():
		r.failf(command, "exec", "command is for runtime exec; remove it, or say runtime: exec")
	}
	if len(j.Command) > 0 && j.Command[0] == "" {
		r.failf(command.item(0), "exec", "the program's name is empty")
	}
	if j.Runtime == "exec" {
		for _, key := range append([]string{"prompt"}, agentOnly[:]...) {
			if own := v.own.field(key); own.present() {
				r.failf(own, "exec", "%s means nothing to runtime exec, which runs a plain program; remove it", key)
			}
		}
		return
	}
	for i, f := range j.Fallbacks {
		if f.Runtime == "exec" {
			r.failf(v.get("fallback_runtime").item(i), "exec", "exec runs a plain program and cannot take over an agent's job; name an agent runtime")
		}
		if f.Placeholder != "" && f.Model != "" {
			r.failf(v.get("fallback_runtime").item(i).field("model"), "value", "a model pin binds only its own runtime, and %s is not one yet; name the runtime or remove the model", f.Placeholder)
		}
	}
}

// promptSource checks that there is exactly one.
func (r *reader) promptSource(v jobView) {
	j, prompt, file := v.job, v.own.field("prompt"), v.get("prompt_file")
	if prompt.present() && file.present() {
		r.failf(file, "prompt", "prompt and prompt_file are both given; keep one")
		return
	}
	given := prompt.present() || file.present() || v.get("command").present() || v.get("skill").present()
	if !given && len(j.DependsOn) == 0 && j.Runtime != "exec" {
		r.missing(prompt, "give prompt, prompt_file or skill; only a job with depends_on may leave it out")
	}
}

// outputRules checks the paths that a job must leave.
func (r *reader) outputRules(v jobView) {
	var seen []string
	for _, item := range v.get("outputs").items() {
		p := item.field("path")
		if !r.relative(p, "the output") {
			continue
		}
		rel := cleanPath(p.text())
		switch {
		case rel == ".":
			r.failf(p, "path", "the output %s is the folder itself; allowed: a file in it", quote(p.text()))
		case slices.Contains(seen, rel):
			r.failf(p, "path", "the output %s is listed twice; keep one", quote(p.text()))
		}
		seen = append(seen, rel)
		if v.job.Writes() {
			r.staysInside(p, "the output", v.job.Cwd, rel)
		}
	}
}

// inputRules checks what a job takes from others.
func (r *reader) inputRules(v jobView, known map[string]jobView) {
	for _, item := range v.get("inputs").items() {
		from, p := item.field("from_job"), item.field("from_path")
		if !p.present() || !r.relative(p, "the input") {
			continue
		}
		source, ok := known[from.text()]
		if ok {
			source = lastRound(source, known)
		}
		rel := cleanPath(p.text())
		if ok && !slices.ContainsFunc(source.job.Outputs, func(o Output) bool { return o.Path == rel }) {
			var paths []string
			for _, o := range source.job.Outputs {
				paths = append(paths, o.Path)
			}
			r.warn(p, "input", "job "+from.text()+" does not declare the output "+quote(rel)+meant(rel, paths)+"; if it leaves no such file, this job cannot start")
		}
	}
}

// lastRound is the job whose outputs and work one leaves: itself, or of a repair the last
// round of what it stands for.
func lastRound(v jobView, known map[string]jobView) jobView {
	g := v.job.Gather
	if g == nil || g.Kind != PatternRepair {
		return v
	}
	for _, id := range slices.Backward(slices.Concat(g.Verifies, g.Work)) {
		// A plain job that is called like a round, which is said, is none.
		if round, ok := known[id]; ok && round.job.Part != nil && round.job.Part.Of == v.job.ID {
			return round
		}
	}
	return v
}

func (r *reader) arbiterRules(v value, a Arbiter) {
	if a.Runtime == "exec" {
		r.failf(v.field("runtime"), "arbiter", "exec runs a plain program and cannot review; name an agent runtime, or ask for mode: checks-only")
	}
}

// gain says when orchestration adds nothing.
func (r *reader) gain(root value, s *Spec) {
	asked := root.field("arbiter").present() && s.Arbiter.Mode == "required"
	if len(s.Jobs) == 1 && !asked {
		r.advise(root.field("jobs"), "gain", "one job and no review asked: orchestration adds little here; running the agent directly may be simpler")
	}
}
