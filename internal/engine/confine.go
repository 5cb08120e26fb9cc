package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/sandbox"
	"orchestrate/internal/spec"
)

// confine says what the kernel holds an attempt to, and apart from it its checks: what
// those run is the agent's work, which neither changes the settings of the agent's program
// nor reads its sign-in. It has its place and its private folder by now.
func (r *run) confine(a *attempt, ad runtime.Adapter) (err error) {
	if !r.plan.Sandbox.Holds() {
		return nil
	}
	if a.box, err = r.draw(a, a.route.Runtime, r.eng.confinementOf(ad, a.env)); err != nil {
		return err
	}
	a.box.Write = append(a.box.Write, a.private.Path)
	if len(a.job.Checks) > 0 {
		a.checkBox, err = r.draw(a, "", runtime.Confinement{})
	}
	return err
}

// draw is the box of one runtime's program, or of what is none's, without a private folder.
func (r *run) draw(a *attempt, runtimeName string, needs runtime.Confinement) (*sandbox.Policy, error) {
	write, err := r.mayWrite(a, needs)
	if err != nil {
		return nil, err
	}
	read, err := there(r.mayRead(a, needs))
	if err != nil {
		return nil, err
	}
	deny, err := there(r.mayNotRead(a, runtimeName, needs))
	if err != nil {
		return nil, err
	}
	list, err := there([]string{r.plan.top(), r.plan.Root})
	if err != nil {
		return nil, err
	}
	if root, err := filepath.EvalSymlinks(r.privateRoot()); err == nil && r.eng.opened(root) {
		// The operator opened the folder for temporary files, and with it these.
		deny = slices.DeleteFunc(deny, func(path string) bool { return path == root })
	}
	p := &sandbox.Policy{Write: write, Read: read, Deny: deny, List: list}
	return p, r.holdable(p)
}

// holdable refuses what the operator opened too far: what is denied below a folder that
// may be changed cannot be held back.
func (r *run) holdable(p *sandbox.Policy) error {
	for _, open := range r.eng.Operator.Sandbox.Writable {
		real, err := filepath.EvalSymlinks(r.eng.atHome(open))
		if err != nil {
			return err // mayWrite has said it better
		}
		for _, denied := range p.Deny {
			if inside(real, denied) {
				return fmt.Errorf("the operator's sandbox.writable %s holds %s, which jobs may not read: name the folders beside it one by one", open, denied)
			}
		}
	}
	return nil
}

// opened reports whether the operator lets every job change a folder.
func (e *Engine) opened(dir string) bool { return within(e.openFolders(), dir) }

// openFolders are those that the operator lets every job change and that are there.
func (e *Engine) openFolders() (all []string) {
	for _, path := range e.Operator.Sandbox.Writable {
		if real, err := filepath.EvalSymlinks(e.atHome(path)); err == nil {
			all = append(all, real)
		}
	}
	return all
}

// mayWrite are the folders and files that an attempt may change.
func (r *run) mayWrite(a *attempt, needs runtime.Confinement) ([]string, error) {
	all, err := r.treeOf(a)
	if err != nil {
		return nil, err
	}
	all = append(all, filepath.Join(a.dir, ledger.ArtifactsDir))
	state, err := makeState(needs.State)
	if err != nil {
		return nil, fmt.Errorf("what %s keeps between its sessions: %w", a.route.Runtime, err)
	}
	all = append(all, state...)
	for _, path := range r.eng.Operator.Sandbox.Writable {
		real, err := filepath.EvalSymlinks(r.eng.atHome(path))
		if err != nil {
			return nil, fmt.Errorf("the operator's sandbox.writable: %w; make it, or take it out", err)
		}
		all = append(all, real)
	}
	all, err = there(all)
	return all, err
}

// treeOf is the part of its tree that an attempt may change.
func (r *run) treeOf(a *attempt) ([]string, error) {
	switch {
	case !a.job.Writes():
		return nil, nil
	case a.at.isolated:
		return []string{a.at.top}, nil
	}
	owned, err := r.plan.ownedFolders(a.job)
	if err != nil { // it could when the job was routed, or where it writes was not known then
		a.hopeless = true
		return nil, fmt.Errorf("the sandbox of job %s cannot be drawn: %w", a.job.ID, err)
	}
	return owned, nil
}

// makeState makes the folders that a program keeps its state in, where they are missing,
// and leaves out files that are. A file has a suffix.
func makeState(paths []string) (all []string, err error) {
	for _, path := range paths {
		if _, err := os.Stat(path); !isAbsent(err) {
			all = append(all, path)
			continue
		}
		if filepath.Ext(strings.TrimPrefix(filepath.Base(path), ".")) != "" {
			continue
		}
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
		all = append(all, path)
	}
	return all, nil
}

func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// mayNotRead are the places whose content an attempt may not read: the run, with the work
// of the other jobs, what is private to those, and the keys of the person.
func (r *run) mayNotRead(a *attempt, runtimeName string, needs runtime.Confinement) []string {
	all := []string{r.privateRoot()}
	if !r.isArbiter(a) {
		all = append(all, r.led.Dir, r.treeRoot)
	}
	all = append(all, r.eng.signIns(runtimeName)...)
	return append(all, r.eng.forbidden(a.job, needs, a.env)...)
}

// forbidden are the person's own keys, where the job was not approved with them and its
// runtime does not sign in by them.
func (e *Engine) forbidden(j *spec.Job, needs runtime.Confinement, env []string) (all []string) {
	if j.Credentialed {
		return nil
	}
	open := slices.Concat(needs.State, needs.Credentials)
	for _, path := range e.Operator.Sandbox.Readable {
		open = append(open, e.atHome(path))
	}
	return slices.DeleteFunc(e.personalPlaces(env), func(path string) bool { return within(open, path) })
}

// mayRead are the exceptions from that.
func (r *run) mayRead(a *attempt, needs runtime.Confinement) []string {
	all := slices.Clone(needs.Credentials)
	for _, name := range []string{ledger.InputsDir, ledger.PromptFile, ledger.OutputFile, ledger.PatchFile} {
		all = append(all, filepath.Join(a.dir, name))
	}
	if a.at.isolated {
		all = append(all, a.at.top)
	}
	if policy.Judges(a.job.Task) {
		for _, id := range a.job.DependsOn {
			all = append(all, r.led.JobDir(id))
		}
	}
	for _, path := range r.eng.Operator.Sandbox.Readable {
		all = append(all, r.eng.atHome(path))
	}
	return all
}

func (r *run) isArbiter(a *attempt) bool { return a.job.ID == ledger.ArbiterJob }
