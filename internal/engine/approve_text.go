package engine

import (
	"fmt"
	"strings"

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
	for _, p := range scope {
		if name, ok := strings.CutPrefix(p.Name, "file "); ok {
			s.line("file", fmt.Sprintf("%s, as it is now (sha256 %.12s)", name, p.Values[0]))
		}
	}
	s.line("cwd", j.Cwd)
	s.line("runtime", runsOn(taken))
	s.line("works in", r.worksIn(j, taken))
	s.boundary(j, taken)
	s.line("env_allow", strings.Join(j.EnvAllow, " "))
	s.line("passes", strings.Join(r.passed(j, taken), " "))
	for _, c := range j.Checks {
		s.line("check", c.Name)
	}
	return s.String()
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
	s.line("tools", strings.Join(j.AllowedTools, " "))
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
