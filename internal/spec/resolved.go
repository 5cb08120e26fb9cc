package spec

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"go.yaml.in/yaml/v4"
)

// Resolved is what WriteResolved writes.
func (s *Spec) Resolved() []byte {
	var b bytes.Buffer
	_ = s.WriteResolved(&b) // which nothing can go wrong with
	return b.Bytes()
}

// WriteResolved writes the spec as YAML with every default said, in a stable order: what
// follows from the spec alone. null stands for "not said" where there is no
// default. isolation stays null unless it was said, because none written out
// forbids what the engine may have to raise.
//
// Text files are named, not copied, with their digests as comments; reading
// it again with Options.Dir set to the Spec's Dir gives an equal Spec as
// long as they are unchanged.
func (s *Spec) WriteResolved(to io.Writer) error {
	w := mapping{}
	w.add("version", s.Version)
	w.add("outcome", orNull(s.Outcome))
	w.add("constraints", s.Constraints)
	w.add("non_goals", s.NonGoals)
	w.add("acceptance", s.Acceptance)
	w.add("concurrency", s.Concurrency)
	w.add("workspace_roots", s.WorkspaceRoots)
	w.add("base", s.Base)
	w.add("budget", s.Budget)
	w.add("arbiter", s.Arbiter)
	var b bytes.Buffer
	emit(&b, w.node(), 0)
	b.WriteString("jobs:\n")
	for i := range s.Jobs { // one by one: a thousand trees, or all of their text, are much memory
		emit(&b, node([]any{&s.Jobs[i]}), 0)
		if _, err := b.WriteTo(to); err != nil {
			return err
		}
	}
	_, err := b.WriteTo(to)
	return err
}

func (b Budget) mapping() mapping {
	w := mapping{}
	w.add("usd", orNull(b.USD))
	w.add("tokens", orNull(b.Tokens))
	w.add("wall", span(b.Wall))
	return w
}

func (a Arbiter) mapping() mapping {
	w := mapping{}
	w.add("runtime", orNull(a.Runtime))
	w.add("model", orNull(a.Model))
	w.add("timeout", span(a.Timeout))
	w.add("mode", a.Mode)
	w.add("require_independent", a.RequireIndependent)
	w.add("max_evidence_bytes", a.MaxEvidenceBytes)
	return w
}

// mapping writes a job's fields in the order of the schema.
func (j *Job) mapping() mapping {
	w := mapping{}
	w.add("id", j.ID)
	j.addRoute(&w)
	j.addText(&w)
	j.addLimits(&w)
	w.add("depends_on", j.DependsOn)
	w.add("destructive", j.Destructive)
	w.add("preview", orNull(j.Preview))
	w.add("rollback", orNull(j.Rollback))
	w.add("checks", each(j.Checks))
	w.add("retry", j.Retry)
	w.add("max_output_bytes", j.MaxOutputBytes)
	w.add("env_allow", j.EnvAllow)
	w.add("worktree", orNothing(j.Worktree))
	w.add("continue", orNull(j.Continue))
	w.add("max_turns", orNull(j.MaxTurns))
	if p := j.patternField(); p != nil {
		w.add("pattern", p)
	}
	if j.Worker != nil {
		w.add("worker", asYAML(j.Worker))
	}
	return w
}

func (j *Job) addRoute(w *mapping) {
	w.add("runtime", orNull(j.Runtime+j.RuntimePlaceholder))
	w.add("fallback_runtime", each(j.Fallbacks))
	w.add("agent", orNull(j.Agent))
	w.add("model", orNull(j.Model))
	w.add("effort", orNull(j.Effort))
	w.add("task", j.Task)
	w.add("importance", j.Importance)
}

func (j *Job) addText(w *mapping) {
	if j.PromptFile == nil {
		w.add("prompt", orNull(j.Prompt))
		w.add("prompt_file", nil)
	} else {
		w.add("prompt", nil)
		w.add("prompt_file", *j.PromptFile)
	}
	w.add("command", j.Command)
	if j.Skill != nil {
		w.add("skill", *j.Skill)
	} else {
		w.add("skill", orNull(j.SkillName))
	}
	w.add("instructions", each(j.Instructions))
}

func (j *Job) addLimits(w *mapping) {
	w.add("cwd", j.Cwd)
	w.add("allowed_tools", j.AllowedTools)
	w.add("disallowed_tools", j.DisallowedTools)
	w.add("effect", j.Effect)
	w.add("untrusted", j.Untrusted)
	w.add("credentialed", j.Credentialed)
	w.add("approval", j.Approval)
	w.add("isolation", orNull(j.Isolation))
	w.add("owned_paths", j.OwnedPaths)
	w.add("serialize", orNull(j.Serialize))
	w.add("overlap", j.Overlap)
	w.add("inputs", each(j.Inputs))
	w.add("outputs", each(j.Outputs))
	w.add("timeout", span(j.Timeout))
	w.add("first_output_timeout", span(j.FirstOutputTimeout))
	w.add("expected_output", j.ExpectedOutput)
}

func (f Fallback) mapping() mapping {
	w := mapping{}
	w.add("runtime", f.Runtime+f.Placeholder)
	w.add("model", orNull(f.Model))
	return w
}

func (in Input) mapping() mapping {
	w := mapping{}
	w.add("from_job", in.FromJob)
	w.add("from_path", orNull(in.FromPath))
	w.add("sha256", orNull(in.SHA256))
	return w
}

func (o Output) mapping() mapping {
	w := mapping{}
	w.add("path", o.Path)
	w.add("sha256", orNull(o.SHA256))
	return w
}

// mapping writes a shell command as its text, the only form that it has.
func (c Check) mapping() mapping {
	w := mapping{}
	if c.Shell != "" {
		w.scalar = c.Shell
		return w
	}
	w.add("name", c.Name)
	if c.Assert != "" {
		w.add("assert", c.Assert)
		return w
	}
	w.add("run", c.Run)
	w.add("timeout", span(c.Timeout))
	return w
}

func (r Retry) mapping() mapping {
	w := mapping{}
	w.add("max_attempts", r.MaxAttempts)
	w.add("backoff", span(r.Backoff))
	w.add("on", r.On)
	return w
}

func orNothing(t Worktree) any {
	if t.Empty() {
		return nil
	}
	return t
}

func (t Worktree) mapping() mapping {
	w := mapping{}
	w.add("copy", t.Copy)
	w.add("setup", each(t.Setup))
	w.add("base", orNull(t.written()))
	return w
}

// orNull writes a zero value as null.
func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// span writes a duration, 0 as null.
func span(d time.Duration) any {
	if d == 0 {
		return nil
	}
	return short(d)
}

// each writes a list, nil as null.
func each[T any](items []T) any {
	if items == nil {
		return nil
	}
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = item
	}
	return out
}

// mapping is an ordered YAML mapping, or one text.
type mapping struct {
	scalar  string
	content []*yaml.Node
}

func (w *mapping) add(key string, v any) {
	w.content = append(w.content, text(key), node(v))
}

func (w mapping) node() *yaml.Node {
	if w.scalar != "" {
		return text(w.scalar)
	}
	return &yaml.Node{Kind: yaml.MappingNode, Content: w.content}
}

// node is the YAML form of what the functions above add.
func node(v any) *yaml.Node {
	switch v := v.(type) {
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	case mapping:
		return v.node()
	case *yaml.Node:
		return v
	case interface{ mapping() mapping }:
		return v.mapping().node()
	case File:
		n := text(v.Path)
		n.LineComment = "sha256 " + v.SHA256
		return n
	case string:
		return text(v)
	case []string:
		return node(each(v))
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v {
			n.Content = append(n.Content, node(item))
		}
		return n
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v)}
	case float64:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: fmt.Sprintf("%v", v)}
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: fmt.Sprint(v)}
	}
}

// text is a string; emit knows when it needs quotes.
func text(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
}
