package gate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/pattern"
	"orchestrate/internal/spec"
)

// Scope is all that one approval covers: what differs in any part of it was never
// approved.
type Scope []Part

// Part is one thing of a scope. Name is what a person knows it by.
type Part struct {
	Name   string
	Values []string
}

// File is a file of the workspace that what a job runs names. SHA256 is that
// of its content, hex, "" when there is none.
type File struct {
	Name   string
	SHA256 string
}

// ScopeOf is the scope of a job on a route. files are those that its command and
// its checks name, see NamedBy.
func ScopeOf(j *spec.Job, r ledger.Route, files []File) Scope {
	s := Scope{
		{"id", []string{j.ID}},
		{"effect", []string{j.Effect}},
		{"destructive", []string{strconv.FormatBool(j.Destructive)}},
		{"credentialed", []string{strconv.FormatBool(j.Credentialed)}},
		{"command", j.Command},
		{"prompt", []string{j.Task, j.Prompt, j.ExpectedOutput}},
		{"skill", skillOf(j)},
		{"instructions", texts(j.Instructions)},
		{"preview", []string{j.Preview}},
		{"rollback", []string{j.Rollback}},
		{"cwd", []string{j.Cwd}},
		{"item", itemOf(j)},
		{"runtime", []string{r.Runtime}},
		{"model", []string{r.Model}},
		{"agent", []string{r.Agent}},
		{"access", []string{r.Access}},
		{"sandbox", []string{r.Sandbox}},
		{"allowed_tools", given(j.AllowedTools)},
		{"disallowed_tools", given(j.DisallowedTools)},
		{"env_allow", j.EnvAllow},
		{"owned_paths", j.OwnedPaths},
		{"outputs", outputsOf(j)},
		{"checks", commandsOf(j.Checks)},
		{"isolation", []string{j.Isolation}},
		{"inputs", inputsOf(j)},
		{"timeout", []string{j.Timeout.String()}},
		{"retry", append([]string{strconv.Itoa(j.Retry.MaxAttempts)}, j.Retry.On...)},
		{"worktree", worktreeOf(j.Worktree)},
	}
	for _, f := range files {
		s = append(s, Part{"file " + f.Name, []string{f.SHA256}})
	}
	return s
}

// itemOf is what its program is told of the item that it is for, nil = there is none, or
// nobody knows it yet.
func itemOf(j *spec.Job) []string {
	if j.Item == nil || j.Item.Value == nil {
		return nil
	}
	return []string{pattern.Text(j.Item.Value)}
}

func skillOf(j *spec.Job) []string {
	if j.Skill == nil {
		return []string{j.SkillName}
	}
	return append([]string{j.SkillName}, texts([]spec.File{*j.Skill})...)
}

func texts(files []spec.File) (all []string) {
	for _, f := range files {
		all = append(all, f.Path, f.Text)
	}
	return all
}

// given tells a list that is not there from an empty one.
func given(list []string) []string {
	if list == nil {
		return nil
	}
	return append([]string{"only"}, list...)
}

func outputsOf(j *spec.Job) (all []string) {
	for _, o := range j.Outputs {
		all = append(all, o.Path, o.SHA256)
	}
	return all
}

func commandsOf(checks []spec.Check) (all []string) {
	for _, c := range checks {
		all = append(all, c.Name, c.Shell, c.Assert, strconv.Itoa(len(c.Run)))
		all = append(all, c.Run...)
	}
	return all
}

// worktreeOf is what its worktree is furnished with, nothing where none of that was said.
func worktreeOf(w spec.Worktree) []string {
	if w.Empty() {
		return nil
	}
	all := append([]string{w.Base, strconv.Itoa(len(w.Copy))}, w.Copy...)
	return append(all, commandsOf(w.Setup)...)
}

// inputsOf are what it gets from other jobs, by name: their content is not there yet
// when a person is asked.
func inputsOf(j *spec.Job) (all []string) {
	for _, in := range j.Inputs {
		all = append(all, in.FromJob, in.FromPath, in.SHA256)
	}
	return append(all, j.DependsOn...)
}

// Digest is the SHA-256 of the scope, hex. Every text and every list goes in with its
// length, so that no two scopes are written the same way.
func (s Scope) Digest() string {
	h := sha256.New()
	writeText(h, "orchestrate approval 1")
	writeCount(h, len(s))
	for _, p := range s {
		writeText(h, p.Name)
		writeCount(h, len(p.Values))
		for _, v := range p.Values {
			writeText(h, v)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// A hash never fails to be written.
func writeCount(w io.Writer, n int) { _ = binary.Write(w, binary.BigEndian, uint64(n)) }

func writeText(w io.Writer, s string) {
	writeCount(w, len(s))
	_, _ = io.WriteString(w, s)
}

// Changes says in which parts a scope differs from this one.
func (s Scope) Changes(now Scope) (all []string) {
	for _, p := range s {
		i := slices.IndexFunc(now, func(o Part) bool { return o.Name == p.Name })
		switch {
		case i < 0:
			all = append(all, p.Name+" is no part of it any more")
		case !slices.Equal(p.Values, now[i].Values):
			all = append(all, p.changed(now[i]))
		}
	}
	for _, p := range now {
		if !slices.ContainsFunc(s, func(o Part) bool { return o.Name == p.Name }) {
			all = append(all, p.Name+" is new")
		}
	}
	return all
}

// brief is how long a value may be that is repeated in a sentence; a digest is longer.
const brief = 60

func (p Part) changed(now Part) string {
	if len(p.Values) != 1 || len(now.Values) != 1 || len(p.Values[0]) > brief || len(now.Values[0]) > brief {
		return p.Name + " has changed"
	}
	return fmt.Sprintf("%s was %q and is %q", p.Name, p.Values[0], now.Values[0])
}

// NamedBy are the words of what a job runs that may name a file: of its command, and of
// its checks and the set-up of its tree, which get all that the job was approved for.
func NamedBy(j *spec.Job) []string {
	words := slices.Clone(j.Command)
	for _, c := range slices.Concat(j.Worktree.Setup, j.Checks) {
		words = append(append(words, c.Run...), c.Shell)
	}
	return Names(words)
}

// Names are the words of a command that may name a file: each argument, and what is
// between the separators of an option or a shell script in it.
func Names(argv []string) (all []string) {
	add := func(name string) {
		if name != "" && !strings.HasPrefix(name, "-") && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	for _, word := range argv {
		add(word)
		for _, part := range strings.FieldsFunc(word, separates) {
			add(part)
		}
	}
	return all
}

func separates(c rune) bool { return strings.ContainsRune(" \t\r\n;&|()<>{}\"'`=,:@$", c) }
