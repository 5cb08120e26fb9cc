package engine

import (
	"cmp"
	"path/filepath"
	"slices"

	"orchestrate/internal/ledger"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/spec"
)

// theRun stands for the run directory, which a plan does not have.
const theRun = "<run>"

// Preview is a plan as it is shown: what would happen, redacted.
type Preview struct {
	SchemaVersion int               `json:"schemaVersion"`
	Spec          string            `json:"spec"`
	Root          string            `json:"root"`
	Base          string            `json:"base"`
	Notes         []string          `json:"notes"`
	Blocked       bool              `json:"blocked"` // some job, or a needed arbiter
	Jobs          []JobPreview      `json:"jobs"`
	Arbiter       *JobPreview       `json:"arbiter"` // null when none is needed
	Runtimes      []runtime.Profile `json:"runtimes"`
}

// JobPreview is one job of a preview.
type JobPreview struct {
	ID          string          `json:"id"`
	Task        string          `json:"task"`
	DependsOn   []string        `json:"dependsOn"`
	Route       ledger.Route    `json:"route"`
	Blocked     *BlockPreview   `json:"blocked"` // null when it has a route
	SideEffects string          `json:"sideEffects"`
	Worktree    *Furnishing     `json:"worktree"`  // null when the spec says nothing of it
	Pattern     *PatternPreview `json:"pattern"`   // null when it is in none
	Continues   string          `json:"continues"` // whose session it goes on with: a job, RUN/JOB of another run, or a session's id; "" = nobody's
	Reach
	Prompt string `json:"prompt"` // redacted; what depends on other jobs is only named
}

// Furnishing is what a job's worktree holds before its program begins.
type Furnishing struct {
	Base   string   `json:"base"`   // the job at whose snapshot it starts, "" = as the order of the jobs says
	Copied []string `json:"copied"` // files of the checkout that git ignores; the job's program can read them
	Setup  []string `json:"setup"`  // commands that are run in it
}

// Reach is what the program of a job can get at.
type Reach struct {
	Cwd         string   `json:"cwd"`
	Readable    []string `json:"readable"`
	Writable    []string `json:"writable"`
	EnvPassed   []string `json:"envPassed"` // names only
	EnvWithheld []string `json:"envWithheld"`
	Command     string   `json:"command"` // redacted, shell-quoted
}

// BlockPreview is what blocks a job and what a person can do.
type BlockPreview struct {
	Reason   runtime.Reason `json:"reason"`
	Detail   string         `json:"detail"`
	NextStep string         `json:"nextStep"`
}

// Preview shows a plan.
func (e *Engine) Preview(p *Plan) Preview {
	v := Preview{
		SchemaVersion: ledger.SchemaVersion, Spec: p.Spec.Path, Root: p.Root, Base: p.Base,
		Notes: append([]string{}, p.Notes...), Jobs: []JobPreview{}, Runtimes: p.Inventory.Profiles,
	}
	for _, w := range append(p.Spec.Warning, p.Spec.Advice...) {
		v.Notes = append(v.Notes, w.Field+": "+w.Message)
	}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		jp := e.previewJob(p, j.Job, j.Route, j.Block)
		v.Jobs = append(v.Jobs, jp)
		v.Blocked = v.Blocked || j.Block != nil
	}
	if p.Arbiter.Needed {
		jp := e.previewJob(p, p.Arbiter.Job, p.Arbiter.Route, p.Arbiter.Block)
		jp.Prompt = "" // it is made from the evidence
		v.Arbiter = &jp
		v.Blocked = v.Blocked || p.Arbiter.Block != nil
	}
	return v
}

func (e *Engine) previewJob(p *Plan, j *spec.Job, r ledger.Route, b *route.Block) JobPreview {
	v := JobPreview{
		ID: j.ID, Task: j.Task, DependsOn: append([]string{}, j.DependsOn...), Route: r, SideEffects: sideEffects(j, r),
		Reach: Reach{Cwd: j.Cwd, Readable: []string{}, Writable: []string{}, EnvPassed: []string{}, EnvWithheld: []string{}},
	}
	v.Worktree, v.Pattern, v.Continues = p.furnishing(j), patternPreview(p, j), goesOnWith(j)
	if j.Gathers() { // nobody is asked
		v.SideEffects = "none: the engine makes its result of other jobs'"
		return v
	}
	dir := filepath.Join(theRun, j.ID)
	out := filepath.Join(dir, ledger.ArtifactsDir)
	at := placingOf(j, r, j.Cwd, out)
	if at.Folder != "" {
		at.Folder = p.workplace(j, r)
	}
	at.Lists = p.lists[j.ID]
	if prompted(j) {
		v.Prompt = p.redact.String(cmp.Or(mending(j), assemble(j, p.expected(j), nil, at)))
	}
	if b != nil {
		v.Blocked = &BlockPreview{Reason: b.Reason, Detail: b.Detail, NextStep: b.NextStep}
	}
	if b != nil && b.Reason != runtime.BlockedApproval { // what is to be approved is shown as well
		return v
	}
	if r.Runtime == runtime.Internal {
		v.Cwd = p.workplace(j, r) // what its agent gets at is the session's affair, and there is no command
		e.previewReach(p, j, r, at, &v.Reach)
		return v
	}
	a, ok := e.adapter(r.Runtime)
	if !ok {
		return v
	}
	_, passed, withheld := environ.Filter(e.Env, a.SignInEnv(), j.EnvAllow)
	v.EnvPassed, v.EnvWithheld = append(v.EnvPassed, passed...), append(v.EnvWithheld, withheld...)
	cwd := p.workplace(j, r)
	v.Cwd = cwd
	e.previewReach(p, j, r, at, &v.Reach)
	req := requestOf(j, r, cwd, out, v.Prompt)
	req.Project = e.Operator.Runtimes[r.Runtime].Project
	req.Script, req.ReadDirs, req.PromptFile = p.script(), p.readDirs(j), promptPath(v.Prompt, dir)
	cmd, err := a.Command(req, p.profile(r.Runtime))
	if err != nil {
		v.Command = "none: " + err.Error()
		return v
	}
	v.Route.Constrained = constrained(j, r, cmd)
	v.Command = p.redact.String(commandText(cwd, whereabouts("<run-id>", j, 1, dir), cmd, promptPath(v.Prompt, dir)))
	return v
}

// workplace is where a job will work on its route.
func (p *Plan) workplace(j *spec.Job, r ledger.Route) string {
	switch {
	case r.Isolation == isolationWorktree:
		return filepath.Join(theRun, ledger.WorktreesDir, j.ID, relTo(p.top(), j.Cwd))
	case j == p.Arbiter.Job && p.treeless() == "":
		return filepath.Join(theRun, ledger.WorktreesDir, j.ID)
	}
	return j.Cwd
}

// furnishing is what the spec says of a job's worktree, nil = nothing.
func (p *Plan) furnishing(j *spec.Job) *Furnishing {
	if j.Worktree.Empty() {
		return nil
	}
	f := &Furnishing{Base: j.Worktree.Base, Copied: append([]string{}, namesOfCopies(p.copies[j.ID])...), Setup: []string{}}
	for _, c := range j.Worktree.Setup {
		f.Setup = append(f.Setup, p.redact.String(checkShown(c)))
	}
	return f
}

// readDirs are the folders outside its cwd that a job reads: its inputs where it
// gets any, and for the arbiter the whole run.
func (p *Plan) readDirs(j *spec.Job) []string {
	switch {
	case j == p.Arbiter.Job:
		return []string{theRun}
	case len(p.wanted(j, p.isolated)) > 0:
		return []string{filepath.Join(theRun, j.ID, ledger.InputsDir)}
	}
	return nil
}

// top is the folder that paths of files are told from.
func (p *Plan) top() string {
	if p.Repo != nil {
		return p.Repo.Top()
	}
	return p.Root
}

// expected names what a job will get from others, before any of it exists.
func (p *Plan) expected(j *spec.Job) (all []handed) {
	for _, w := range p.wanted(j, p.isolated) {
		all = append(all, handed{From: w.from, Label: label(w), Path: filepath.Join(theRun, j.ID, ledger.InputsDir, w.from, w.name())})
	}
	return all
}

// sandboxed reports whether a kernel's sandbox holds the program of a route: the engine's
// or its own.
func sandboxed(r ledger.Route) bool {
	return r.Sandbox != "" || slices.Contains(r.Controls, string(runtime.ControlOSSandbox))
}

// observes says what an observer may change on its route.
func observes(j *spec.Job, r ledger.Route) string {
	if r.Runtime == runtime.Internal {
		return "none is asked for; that it keeps to that is the hosting session's word"
	}
	if r.Access != string(runtime.AccessShell) {
		return "none: it only reads"
	}
	text := "runs any command"
	if j.Exec() {
		text = "runs its command"
	}
	switch {
	case sandboxed(r):
		return text + "; an OS sandbox bounds what it writes"
	case r.Isolation == isolationWorktree:
		return text + " in a tree of its own; nothing bounds what it writes elsewhere"
	}
	return text + "; nothing bounds what it writes"
}

// sideEffects says in words what a job may change on its route.
func sideEffects(j *spec.Job, r ledger.Route) string {
	switch j.Effect {
	case "observe":
		return observes(j, r)
	case "external-destructive":
		return "outside this machine: " + j.Preview + "; to undo it: " + j.Rollback
	}
	text := j.Effect + ": changes files it owns, captured as a patch"
	if n := len(j.Checks); n > 0 {
		text += "; its checks run commands"
	}
	return text
}
