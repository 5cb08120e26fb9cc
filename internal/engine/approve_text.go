package engine

import (
	"fmt"
	"strings"

	"orchestrate/internal/check"
	"orchestrate/internal/gate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/shellword"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// The text that a person is shown.
const (
	promptLines = 20   // of a prompt
	longLine    = 4000 // characters of one value
)

// sheet is that text, a thing a line.
type sheet struct{ strings.Builder }

func (s *sheet) line(label, text string) {
	if text == "" {
		return
	}
	if n := len([]rune(text)); n > longLine {
		text = fmt.Sprintf("(the first of %d characters) %s", n, text)
	}
	fmt.Fprintf(s, "  %-12s %s\n", label, untrusted.From(text).Line(longLine))
}

// shownScope says in words what a person would be approving, and what holds the job
// meanwhile.
func (r *run) shownScope(j *spec.Job, taken ledger.Route, scope gate.Scope) string {
	var s sheet
	fmt.Fprintf(&s, "job %s needs your approval: %s (%s)\n", j.ID, taken.Risk, untrusted.From(taken.RiskWhy).Line(0))
	s.line("effect", j.Effect)
	s.line("preview", j.Preview)
	s.line("rollback", j.Rollback)
	if j.Exec() {
		s.line("command", shellword.Join(j.Command))
	} else {
		s.prompt(j)
	}
	s.line("item", itemText(j))
	s.files(scope, len(gate.NamedBy(j)) > 0 && r.plan.Graph.FollowsWriter(j.ID))
	s.line("inputs", strings.Join(inputsOf(j), " "))
	s.line("cwd", j.Cwd)
	s.line("runtime", runsOn(taken))
	s.line("works in", r.worksIn(j, taken))
	s.line("owned_paths", strings.Join(j.OwnedPaths, " "))
	s.line("outputs", strings.Join(outputsOf(j), " "))
	s.boundary(j, taken)
	s.line("timeout", j.Timeout.String())
	s.line("attempts", attemptsOf(j))
	s.line("env_allow", strings.Join(j.EnvAllow, " "))
	s.line("passes", strings.Join(r.passed(j, taken), " "))
	if f := r.plan.furnishing(j); f != nil {
		s.line("copies", strings.Join(f.Copied, " "))
		for _, c := range f.Setup {
			s.line("set-up", c)
		}
	}
	for _, c := range j.Checks {
		s.line("check", checkShown(c))
	}
	return s.String()
}

// files are those that the scope covers by their content. Who builds on what another job
// leaves is told where there are none: what is run may then be what that job wrote.
func (s *sheet) files(scope gate.Scope, follows bool) {
	none := true
	for _, p := range scope {
		if name, ok := strings.CutPrefix(p.Name, "file "); ok {
			none = false
			s.line("file", fmt.Sprintf("%s, as it is now (sha256 %.12s)", name, p.Values[0]))
		}
	}
	if none && follows {
		s.line("file", "none: no file that it runs is covered by this approval, and an earlier job may change any")
	}
}

func inputsOf(j *spec.Job) (all []string) {
	for _, in := range j.Inputs {
		all = append(all, strings.TrimSpace(in.FromJob+" "+in.FromPath))
	}
	return all
}

func outputsOf(j *spec.Job) (all []string) {
	for _, o := range j.Outputs {
		all = append(all, o.Path)
	}
	return all
}

// attemptsOf says how often a job may run, "" = once.
func attemptsOf(j *spec.Job) string {
	if j.Retry.MaxAttempts < 2 {
		return ""
	}
	return fmt.Sprintf("up to %d: again after %s", j.Retry.MaxAttempts, strings.Join(j.Retry.On, ", "))
}

// checkShown is what a check does, and only then what it is called.
func checkShown(c spec.Check) string {
	if c.Assert != "" {
		return "for the arbiter: " + c.Assert
	}
	text := check.Shown(c)
	if c.Name != "" && c.Name != text {
		text += fmt.Sprintf(" (named %q)", c.Name)
	}
	return text
}

func (s *sheet) prompt(j *spec.Job) {
	text := strings.TrimSpace(j.Prompt)
	lines := strings.Split(text, "\n")
	if text == "" {
		lines = nil
	}
	s.line("prompt", fmt.Sprintf("%d lines, %d characters; the whole is in what `orchestrate plan` shows", len(lines), len([]rune(text))))
	for _, line := range lines[:min(len(lines), promptLines)] {
		fmt.Fprintf(s, "    | %s\n", untrusted.From(line).Line(longLine))
	}
	s.line("skill", j.SkillName)
	files := j.Instructions
	if j.Skill != nil {
		files = append([]spec.File{*j.Skill}, files...)
	}
	for _, f := range files {
		s.line("instructions", fmt.Sprintf("%s (sha256 %.12s)", f.Path, f.SHA256))
	}
	s.line("expected", j.ExpectedOutput)
	s.line("effort", j.Effort)
	s.line("tools", strings.Join(j.AllowedTools, " "))
	s.line("not tools", strings.Join(j.DisallowedTools, " "))
}

func (s *sheet) boundary(j *spec.Job, taken ledger.Route) {
	s.line("controls", strings.Join(taken.Controls, ", "))
	switch {
	case sandboxed(taken):
		s.line("boundary", "a kernel's sandbox bounds what it writes; the network is open to it")
	case j.Writes() || taken.Access == string(runtime.AccessShell):
		s.line("boundary", "nothing bounds what it writes; the network is open to it")
	}
	s.line("constrained", strings.Join(taken.Constrained, "; "))
}

func runsOn(taken ledger.Route) string {
	text := taken.Runtime
	if taken.Model != "" {
		text += ", model " + taken.Model
	}
	if taken.Agent != "" {
		text += ", agent " + taken.Agent
	}
	return text
}

// worksIn says which tree a job will find: that of another job nobody has seen yet.
func (r *run) worksIn(j *spec.Job, taken ledger.Route) string {
	base, own := r.baseOf(j, taken)
	if !own {
		return "the shared checkout"
	}
	if writer, _ := r.plan.Graph.BaseOf(j.ID, r.isolated); writer != "" {
		if _, done := r.snapshot(writer); !done {
			return "a tree of its own, at what job " + writer + " will leave: nobody has seen that yet"
		}
		return "a tree of its own, at what job " + writer + " left"
	}
	return fmt.Sprintf("a tree of its own, at commit %.12s", base)
}

// passed names the variables of our environment that the program gets.
func (r *run) passed(j *spec.Job, taken ledger.Route) []string {
	ad, ok := r.eng.adapter(taken.Runtime)
	if !ok {
		return nil
	}
	_, names, _ := environ.Filter(r.eng.Env, ad.SignInEnv(), j.EnvAllow)
	return names
}
