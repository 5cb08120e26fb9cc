package spec

import (
	"cmp"
	"regexp"
	"strings"
)

// effects checks that the task and what the job may change agree.
func (r *reader) effects(v jobView) {
	j, effect, task := v.job, v.get("effect"), v.get("task")
	switch {
	case j.Effect == "" && j.Runtime == "exec":
		r.missing(v.own.field("effect"), "an exec job says what it may change: observe, scoped-write, high-impact-write or external-destructive")
		return
	case j.Effect == "" && j.Task != "" && mayWrite(j.Task):
		r.missing(v.own.field("effect"), "the task "+j.Task+" says what it may change: observe, scoped-write, high-impact-write or external-destructive")
		return
	case j.Effect == "":
		return
	}
	switch j.Task {
	case "implement":
		if !j.Writes() {
			r.failf(effect, "effect", "task implement and effect observe do not agree; say scoped-write, or choose a task that observes, such as analysis")
		}
	case "scout", "research", "analysis", "architecture", "synthesis":
		if j.Writes() {
			said := "task " + j.Task
			if !task.present() {
				said = "the task (analysis, because only a model is given)"
			}
			r.failf(effect, "effect", "%s and effect %s do not agree: it only observes; say effect: observe, or a task that writes, such as implement or docs", said, j.Effect)
		}
	}
	if j.Destructive && !j.Writes() {
		r.failf(v.get("destructive"), "effect", "destructive: true and effect observe do not agree; say effect: external-destructive or high-impact-write, or remove destructive")
	}
	r.approvalText(v)
}

// approvalText warns when a person would be asked without being told what for.
func (r *reader) approvalText(v jobView) {
	j := v.job
	if j.Effect != "external-destructive" && !j.Destructive && !j.Credentialed {
		return
	}
	if j.Preview == "" || j.Rollback == "" {
		r.warn(v.own.field("id"), "approval", "job "+j.ID+" has external or destructive effects (R3) and will be blocked: it needs preview (what will happen) and rollback (how to undo it)")
	}
}

// strongerThan says why the job alone asks for a worktree and checks (risk R2),
// or "".
func strongerThan(j *Job) string {
	switch {
	case !j.Writes() || j.Effect == "":
		return ""
	case j.Effect == "high-impact-write":
		return "effect high-impact-write"
	case j.Untrusted:
		return "it writes on untrusted input"
	case j.Task == "implement" && j.Importance == "high":
		return "an implementation of high importance"
	}
	return ""
}

// isolation refuses what weakens the protection that the job alone asks for.
// Writers beside each other are the graph's to judge.
func (r *reader) isolation(v jobView) {
	j, iso := v.job, v.get("isolation")
	if j.Isolation == "clone" {
		r.failf(iso, "not-available", "isolation: clone is not available yet; allowed: none, worktree")
		return
	}
	if !j.Writes() || j.Effect == "" {
		return
	}
	why := strongerThan(j)
	if why != "" && j.Worker == nil && !hasRunnableCheck(j) && !v.get("checks").malformed() {
		r.failf(v.own.field("checks"), "check", "job %s needs at least one check that runs, because of %s (R2); add checks, such as [go test ./...]", quote(j.ID), why)
	}
	if why == "" && len(v.get("owned_paths").items()) == 0 {
		why = "it owns its whole cwd (no owned_paths)"
	}
	if why != "" && j.Isolation == "none" {
		r.failf(iso, "isolation", "isolation: none is not allowed here: %s; remove it or say worktree", why)
	}
}

func hasRunnableCheck(j *Job) bool {
	for _, c := range j.Checks {
		if c.Assert == "" {
			return true
		}
	}
	return false
}

// malformed reports a value of which nothing can be said, since its type is wrong.
func (v value) malformed() bool { return v.present() && v.t.kind != kindList }

// checkRules checks each check's own form.
func (r *reader) checkRules(v jobView) {
	for _, item := range v.get("checks").items() {
		if item.t.kind != kindMap {
			continue
		}
		run, assert := item.field("run").present(), item.field("assert").present()
		switch {
		case run && assert:
			r.failf(item, "check", "a check has either run or assert, not both; make two of it")
		case !run && !assert:
			r.failf(item, "check", "a check needs run (a list of words) or assert (a statement for the arbiter)")
		case assert && item.field("timeout").present():
			r.failf(item.field("timeout"), "check", "an assert is judged by the arbiter and has no timeout of its own; remove it")
		case run && len(item.field("run").texts()) > 0 && item.field("run").texts()[0] == "":
			r.failf(item.field("run").item(0), "check", "the program's name is empty")
		}
	}
}

// hazard is a command that changes something outside the tree or for good.
var hazard = regexp.MustCompile(`(?i)(?:^|[\s;&|("'/])(` + strings.Join([]string{
	`git\s+(?:\S+\s+)*?push\b`, `git\s+clean\b`,
	`(?:npm|yarn|pnpm|cargo|bun|poetry)\s+publish\b`, `gem\s+push\b`, `twine\s+upload\b`, `docker\s+push\b`,
	`gh\s+(?:release|pr)\s+(?:create|delete|merge|close)\b`,
	`kubectl\s+(?:apply|delete|replace|scale)\b`, `terraform\s+(?:apply|destroy)\b`,
	`helm\s+(?:install|upgrade|uninstall|delete)\b`, `aws\s+s3\s+(?:rm|rb|mv|sync)\b`,
	`rm\s+(?:-\S+\s+)*-\S*[rR]\S*`, `shred\b`, `drop\s+(?:table|database)\b`,
	`(?:make|just|task|npm\s+run|yarn|pnpm)\s+(?:deploy|publish|release)\b`,
}, "|") + `)|(?:^|[;&|(]\s*)[\w./-]*deploy[\w.-]*`)

// hazards warns about programs and checks that push, publish, deploy, delete or send
// something out though the job does not say so.
func (r *reader) hazards(v jobView) {
	j := v.job
	if j.Effect == "external-destructive" || j.Destructive || j.Worker != nil {
		return // it is said, or the person typed the command and cannot say it
	}
	r.hazardous(v.get("command"), strings.Join(j.Command, " "), "command")
	items := v.get("checks").items()
	for i, c := range j.Checks {
		if i < len(items) {
			r.hazardous(items[i], c.Shell+strings.Join(c.Run, " "), "check")
		}
	}
	items = v.get("worktree").field("setup").items()
	for i, c := range j.Worktree.Setup {
		r.hazardous(items[i], c.Shell+strings.Join(c.Run, " "), "set-up command")
	}
}

func (r *reader) hazardous(v value, text, what string) {
	if m := cmp.Or(hazard.FindString(text), sendsOut(text)); m != "" {
		r.warn(v, "hazard", "this "+what+" seems to push, publish, deploy, delete or send something out ("+quote(strings.Trim(m, " \t\n;&|(\"'/"))+"); if it does, the job's effect is external-destructive or it is destructive: true")
	}
}
