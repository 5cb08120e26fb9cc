package engine

import (
	"context"
	"slices"
	"strings"

	"orchestrate/internal/secret"
	"orchestrate/internal/secret/detect"
	"orchestrate/internal/spec"
	"orchestrate/internal/workspace"
)

// guard makes what finds and takes out secrets: the exact values of secret-looking
// environment variables, of the .env files of these folders and of files that are copied
// into worktrees, beside all that looks like one. What the operator allowed is none. It
// reports whether there are values that were not known before.
func (p *Plan) guard(e *Engine, folders ...string) (more bool, err error) {
	values := outsideOf(p.Root, append(secret.FromEnv(e.Env), p.inCopies...))
	slices.Sort(folders)
	for _, dir := range slices.Compact(folders) {
		found, notes, err := secret.FromDotenv(dir)
		if err != nil {
			return false, err
		}
		for _, note := range notes {
			if !slices.Contains(p.Notes, note) {
				p.Notes = append(p.Notes, note)
			}
		}
		values = append(values, outsideOf(p.Root, outsideOf(dir, found))...)
	}
	slices.Sort(values)
	values = slices.Compact(values)
	if p.detect != nil && slices.Equal(values, p.secrets) {
		return false, nil
	}
	p.secrets, p.allowed = values, e.Operator.Secrets.Allow
	p.redact = secret.NewAllowing(p.secrets, p.allowed)
	p.detect, err = detect.New(p.secrets, p.allowed)
	return true, err
}

// outsideOf leaves out what is a part of the path of a folder: it stands in every path
// below, where nothing hides it, and a run whose own place is redacted is never found
// again.
func outsideOf(dir string, values []string) []string {
	return slices.DeleteFunc(values, func(v string) bool { return strings.Contains(dir, v) })
}

// readGuarded reads the spec, and once more when the folders that it names hold
// secrets that the first reading could not know.
func (p *Plan) readGuarded(ctx context.Context, e *Engine) ([]spec.Diagnostic, error) {
	root := p.Root
	if _, err := p.guard(e, root); err != nil {
		return nil, err
	}
	if errs := p.read(); len(errs) > 0 {
		return errs, nil
	}
	p.enterRoot(ctx)
	errs, err := p.findCopies(ctx)
	if err != nil || len(errs) > 0 {
		return errs, err
	}
	more, err := p.guard(e, append(p.folders(ctx), root)...)
	if err != nil || !more {
		return nil, err
	}
	p.Root = root
	return p.read(), nil
}

// folders are all in which the spec has work: the workspace roots, the top levels
// of their repositories, and each job's cwd.
func (p *Plan) folders(ctx context.Context) []string {
	all := slices.Clone(p.Spec.WorkspaceRoots)
	for _, dir := range p.Spec.WorkspaceRoots {
		if p.Repo != nil && dir == p.Repo.Top() {
			continue
		}
		if repo, err := workspace.Open(ctx, dir); err == nil {
			all = append(all, repo.Top())
		}
	}
	for i := range p.Spec.Jobs {
		if dir := p.Spec.Jobs[i].Cwd; dir != all[len(all)-1] {
			all = append(all, dir)
		}
	}
	return all
}

func (p *Plan) findSecrets(text string) (out []spec.Secret) {
	for _, f := range p.detect.Find(text) {
		out = append(out, spec.Secret{Rule: f.Rule, Line: f.Line, Col: f.Col, Fingerprint: f.Fingerprint})
	}
	return out
}
