package engine

import (
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/spec"
)

// What a program may read and write, in words for a person.

// unbounded is where a program may read, and write, that nothing holds.
const unbounded = "anything that your account may"

// thePrivate stands for the private folder of an attempt, before there is one.
const thePrivate = "a folder of its own for temporary files and caches"

// writable is what a job may write where no sandbox of the engine's holds it: with a
// shell it is asked to write no more, but may.
func writable(r ledger.Route, at placing) []string {
	if r.Access == string(runtime.AccessShell) && !sandboxed(r) {
		return []string{unbounded}
	}
	return at.Writable
}

// reading says what may be read behind a policy.
func reading(deny, read []string) string {
	if len(deny) == 0 {
		return unbounded
	}
	text := unbounded + ", but not " + strings.Join(deny, ", ")
	if len(read) > 0 {
		text += "; of that yet " + strings.Join(read, ", ")
	}
	return text
}

// previewReach says of a planned job what it will be able to read and write.
func (e *Engine) previewReach(p *Plan, j *spec.Job, r ledger.Route, at placing, v *Reach) {
	if r.Sandbox != sandbox.Landlock {
		v.Readable, v.Writable = append(v.Readable, unbounded), append(v.Writable, writable(r, at)...)
		return
	}
	a, _ := e.adapter(r.Runtime)
	passed, _, _ := environ.Filter(e.Env, a.SignInEnv(), j.EnvAllow)
	needs := e.confinementOf(a, passed)
	deny, read := e.previewDenied(p, j, r, needs, passed)
	v.Readable = append(v.Readable, reading(deny, read))
	v.Writable = append(v.Writable, p.previewTree(j, r)...)
	v.Writable = append(v.Writable, at.OutDir, thePrivate)
	v.Writable = append(v.Writable, needs.State...)
	for _, path := range e.Operator.Sandbox.Writable {
		v.Writable = append(v.Writable, e.atHome(path))
	}
}

// previewTree is the part of its tree that a planned job may change.
func (p *Plan) previewTree(j *spec.Job, r ledger.Route) []string {
	if !j.Writes() {
		return nil
	}
	if r.Isolation == isolationWorktree {
		return []string{filepath.Join(theRun, ledger.WorktreesDir, j.ID)}
	}
	owned, err := p.ownedFolders(j)
	if err != nil {
		return nil // it has no such route then
	}
	return owned
}

// previewDenied is what a planned job may not read, and what of that it may.
func (e *Engine) previewDenied(p *Plan, j *spec.Job, r ledger.Route, needs runtime.Confinement, env []string) (deny, read []string) {
	deny, err := there(append(e.signIns(r.Runtime), e.forbidden(j, needs, env)...))
	if err != nil {
		deny = append(deny, "("+err.Error()+")")
	}
	if j != p.Arbiter.Job {
		deny = append(deny, theRun)
		for _, name := range []string{ledger.InputsDir, ledger.PromptFile} {
			read = append(read, filepath.Join(theRun, j.ID, name))
		}
		if r.Isolation == isolationWorktree {
			read = append(read, filepath.Join(theRun, ledger.WorktreesDir, j.ID))
		}
	}
	if policy.Judges(j.Task) {
		for _, id := range j.DependsOn {
			read = append(read, filepath.Join(theRun, id))
		}
	}
	for _, path := range e.Operator.Sandbox.Readable {
		read = append(read, e.atHome(path))
	}
	return deny, slices.Compact(read)
}
