package worker

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// What a task is when it does not say it.
const (
	defaultTimeout  = "3600s"
	defaultTurns    = int64(100)
	defaultParallel = 4
)

// job is a task as the spec has it.
type job struct {
	ID         string `json:"id"`
	Runtime    string `json:"runtime,omitempty"`
	Model      string `json:"model,omitempty"`
	Effort     string `json:"effort,omitempty"`
	Task       string `json:"task"`
	PromptFile string `json:"prompt_file,omitempty"`
	Cwd        string `json:"cwd,omitempty"`
	Effect     string `json:"effect,omitempty"`
	OwnedPaths any    `json:"owned_paths,omitempty"`
	Overlap    string `json:"overlap,omitempty"`
	Outputs    any    `json:"outputs,omitempty"`
	Checks     any    `json:"checks,omitempty"`
	EnvAllow   any    `json:"env_allow,omitempty"`
	DependsOn  any    `json:"depends_on,omitempty"`
	Continue   string `json:"continue,omitempty"`
	Timeout    string `json:"timeout"`
	MaxTurns   int64  `json:"max_turns,omitempty"`
	Expected   string `json:"expected_output,omitempty"` // "" = as the spec's defaults say
	Foreach    any    `json:"foreach,omitempty"`
	Votes      any    `json:"votes,omitempty"`
	UntilDry   any    `json:"until_dry,omitempty"`
	Repair     any    `json:"repair,omitempty"`
	Join       any    `json:"join,omitempty"`
	Worker     form   `json:"worker"`

	prompt  string // "" = none: one that joins others may do without
	pattern bool   // it stands for several, or needs others
	here    bool   // nobody said where it works: in the caller's folder
}

// form is what only the worker form says of a job.
type form struct {
	AsIs    bool     `json:"as_is"`
	Command string   `json:"command,omitempty"`
	Resumes *resumed `json:"resumes,omitempty"`
}

// resumed is spec.Resumed as the document has it.
type resumed struct {
	Session string `json:"session"`
	Runtime string `json:"runtime"`
	Model   string `json:"model,omitempty"`
	Cwd     string `json:"cwd"`
	Writes  bool   `json:"writes"`
	Run     string `json:"run,omitempty"`
	Job     string `json:"job,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Tree    string `json:"tree,omitempty"`
	Base    string `json:"base,omitempty"`
}

// adds are the keys for which the engine puts something behind a task's own prompt.
var adds = []string{"outputs", "expected_output"}

// relations are the keys that make a task more than one or tie it to others.
var relations = []string{"depends_on", "foreach", "votes", "until_dry", "repair", "join"}

// job makes the job of a task.
func (r *reading) job(i int) job {
	own := r.tasks[i]
	t := r.defaults.over(own)
	j := job{
		ID: t.text("id"), Model: t.text("model"), Effort: t.text("effort"), Runtime: r.adapter(t),
		OwnedPaths: t["owned_paths"], Outputs: t["outputs"], Checks: t["checks"], EnvAllow: t["env_allow"], DependsOn: t["depends_on"],
		Foreach: t["foreach"], Votes: t["votes"], UntilDry: t["until_dry"], Repair: t["repair"], Join: t["join"],
		Timeout: timeout(t["timeout"]), MaxTurns: defaultTurns, Expected: t.text("expected_output"),
	}
	if n, ok := t["max_turns"].(int64); ok {
		j.MaxTurns = n
	}
	j.Worker = form{AsIs: t.prompted() && !slices.ContainsFunc(adds, t.has), Command: r.command(i, own, t)}
	j.pattern = slices.ContainsFunc(relations, t.has)
	j.Cwd, j.here = r.cwd(t), t.text("cwd") == ""
	r.folder(i, j.Cwd)
	if j.prompt = r.prompt(i, own); own.prompted() {
		j.PromptFile = promptsDir + "/" + j.ID + ".txt"
	}
	j.write(t["write"] == true)
	j.Task = cmp.Or(t.text("task"), j.usual(t))
	if j.Worker.Command != "" {
		j.Runtime, j.Model, j.Effort, j.MaxTurns = "", "", "", 0
	}
	r.session(i, t, &j)
	if j.Runtime == "exec" && j.Worker.Command == "" {
		r.fail(i, "adapter", "worker_cmd", "exec is no agent, it runs a plain program; for a command of your own give worker_cmd (--worker-cmd) and leave adapter out")
	}
	return j
}

// write says what the job may change. Each writer has its worktree, so that a conflict
// shows when the work is brought together.
func (j *job) write(writes bool) {
	j.Effect, j.Overlap = "observe", ""
	if writes {
		j.Effect, j.Overlap = "scoped-write", "accept"
	}
}

// usual is the kind of work of a task that does not say it.
func (j *job) usual(t fields) string {
	switch {
	case t.has("join") && !t.prompted():
		return "synthesis"
	case j.Effect != "observe", j.Worker.Command != "":
		return "mechanical"
	}
	return "research"
}

// command is the person's own shell text that does the task, "" = an agent does.
func (r *reading) command(i int, own, t fields) string {
	if own.has("adapter") && !own.has("worker_cmd") {
		return "" // who names an agent for the task does not mean the command of all others
	}
	if own.has("worker_cmd") {
		for _, key := range []string{"adapter", "model", "effort", "session", "resume_from"} {
			if own.has(key) {
				r.fail(i, key, "worker_cmd", key+" is of an agent, and worker_cmd is a command of your own; say one of them")
			}
		}
	}
	return t.text("worker_cmd")
}

// adapter is the runtime that a task names, as the runtime calls itself.
func (r *reading) adapter(t fields) string {
	name := cmp.Or(t.text("adapter"), r.opts.Adapter)
	if name == "" || r.opts.Runtime == nil {
		return name
	}
	return r.opts.Runtime(name)
}

// cwd is absolute: specs have other folders than manifests to be relative to.
func (r *reading) cwd(t fields) string {
	cwd := t.text("cwd")
	if filepath.IsAbs(cwd) {
		return cwd
	}
	return filepath.Join(r.opts.Cwd, cwd)
}

// folder holds that a task works in a folder that is there. What an item of a list says of
// it is looked at when that is known.
func (r *reading) folder(i int, cwd string) {
	if strings.Contains(cwd, "{{") {
		return
	}
	switch info, err := os.Stat(cwd); {
	case errors.Is(err, fs.ErrNotExist):
		r.fail(i, "cwd", "path", fmt.Sprintf("%q is not there; allowed: an existing folder anywhere, relative to %s", cwd, r.opts.Cwd))
	case err != nil:
		r.fail(i, "cwd", "path", fmt.Sprintf("%q cannot be looked at: %v", cwd, err))
	case !info.IsDir():
		r.fail(i, "cwd", "path", fmt.Sprintf("%q is no folder; allowed: an existing folder anywhere, relative to %s", cwd, r.opts.Cwd))
	}
}

// prompted reports whether the task has a prompt of its own.
func (f fields) prompted() bool { return f.has("prompt") || f.has("prompt_file") }

// timeout is a duration as specs write it.
func timeout(v any) string {
	var text string
	switch v := v.(type) {
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		text = v
	default:
		return defaultTimeout
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if seconds == 0 {
			return "0"
		}
		return text + "s"
	}
	return text
}

// roots are the workspace root and every folder outside it that a task works in.
func (m *Manifest) roots() []string {
	roots := []string{m.Run.Root}
	for _, j := range m.jobs {
		at := j.Cwd
		if before, _, variable := strings.Cut(at, "{{"); variable {
			at = filepath.Dir(before + "x")
		}
		if at == "" || slices.ContainsFunc(roots, func(root string) bool { return within(root, at) }) {
			continue
		}
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			roots = append(roots, at)
		}
	}
	return roots
}

// within reports whether a folder is root or below it, links followed.
func within(root, at string) bool {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		at = real
	}
	rel, err := filepath.Rel(root, at)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
