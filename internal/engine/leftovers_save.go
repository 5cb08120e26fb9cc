package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/workspace"
)

// saveTree saves what a worktree holds and no commit does, and where it was given up its
// recorded commit too; it says as what, "" = nothing had to be.
func (c *cleaner) saveTree(ctx context.Context, r *runLeft, f *leftover) (string, error) {
	t := f.tree
	if t.ofArbiter() {
		return "", nil
	}
	tip := cmp.Or(c.refAt("refs/heads/"+t.branch), t.tip(), f.reg.Commit)
	req := workspace.SalvageRequest{Commit: tip, Base: cmp.Or(t.base, tip), Unused: f.facts.Unused, Discarded: f.facts.Given}
	if f.folder {
		req.Dir = f.place
	}
	if !f.reg.Half {
		req.GitDir = f.reg.GitDir
	}
	kept := c.reached(ctx, tip)
	req.Keep = f.facts.Given && kept == "" && t.writer()
	if req.Parent = req.Base; kept != "" { // a commit of the person's has the rest
		req.Parent = tip
	}
	return c.save(ctx, r, f, req)
}

// saveCommit gives the commit of a branch that goes another ref.
func (c *cleaner) saveCommit(ctx context.Context, r *runLeft, f *leftover) (string, error) {
	at := f.item.Commit
	return c.save(ctx, r, f, workspace.SalvageRequest{Commit: at, Parent: at, Base: cmp.Or(f.tree.base, at), Keep: true})
}

func (c *cleaner) save(ctx context.Context, r *runLeft, f *leftover, req workspace.SalvageRequest) (string, error) {
	dir, err := c.salvageDir()
	if err != nil {
		return "", err
	}
	t := f.tree
	name := t.name()
	if t.job == ledger.IntegrationJob {
		name = filepath.Base(t.dir)
	}
	req.Ref = salvagePrefix + r.id + "/" + name
	if f.facts.Into == "" || req.Dir != "" { // an integrated commit has its changes.patch
		req.Patch = filepath.Join(dir, r.id+"-"+name+".patch")
	}
	req.About = workspace.CaptureRequest{
		Message: fmt.Sprintf("Salvage of job %s, attempt %d", t.job, t.n), At: c.eng.Now(),
		Trailers: []string{"Orchestrate-Run: " + r.id, "Orchestrate-Job: " + t.job, fmt.Sprintf("Orchestrate-Attempt: %d", t.n)},
	}
	if req.About.Review, err = c.reviewer(ctx, r, req); err != nil {
		return "", err
	}
	saved, err := c.repo.Salvage(ctx, req)
	if err != nil {
		return "", err
	}
	var as []string
	if saved.Ref != "" {
		as = append(as, saved.Ref)
	}
	if saved.Patch != "" {
		as = append(as, relTo(c.root, saved.Patch))
	}
	as = append(as, saved.Beside...)
	outputs, err := c.saveOutputs(ctx, f, cmp.Or(saved.Commit, req.Commit), filepath.Join(dir, r.id+"-"+name))
	if outputs != "" {
		as = append(as, relTo(c.root, outputs))
	}
	return strings.Join(as, ", "), err
}

// salvageDir is the folder for what is saved as files, which git never shows.
func (c *cleaner) salvageDir() (string, error) {
	dir := filepath.Join(c.root, filepath.FromSlash(ledger.ReportsDir), ledger.SalvageDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("no place for what is saved: %w", err)
	}
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a folder")
	}
	if err != nil {
		return "", fmt.Errorf("no place for what is saved: %s: %w", dir, err)
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	return dir, os.WriteFile(ignore, []byte("*\n"), 0o600)
}

// reviewer has the patch shown without secrets, as that of a job is: those of the
// environment, of .env files, also of the tree, and of files that the run copied into
// trees, and whatever looks like one.
func (c *cleaner) reviewer(ctx context.Context, left *runLeft, req workspace.SalvageRequest) (func([]byte) ([]byte, error), error) {
	values, err := c.inCopiesOf(left)
	if err != nil {
		return nil, err
	}
	p := &Plan{Root: c.root, inCopies: values}
	folders := []string{c.root}
	if req.Dir != "" {
		folders = append(folders, req.Dir)
	}
	if _, err := p.guard(c.eng, folders...); err != nil {
		return nil, err
	}
	c.redact = p.redact
	at, err := workspace.SharedTree(ctx, c.repo, req.Base) // any tree of the repository has its objects
	if err != nil {
		return nil, err
	}
	r := &run{eng: c.eng, plan: p, redact: p.redact, detect: p.detect}
	return func(patch []byte) ([]byte, error) {
		return r.reviewPatch(ctx, &attempt{at: place{tree: at}}, patch, &settlement{})
	}, nil
}

// saveOutputs copies the declared outputs of a worktree that no commit holds, since git
// ignores them; it says where, "" = there are none.
func (c *cleaner) saveOutputs(ctx context.Context, f *leftover, commit, to string) (where string, err error) {
	t := f.tree
	if !f.folder || f.item.Kind != "worktree" || t.cwd == "" {
		return "", nil
	}
	var names []string
	for _, a := range t.status.Artifacts {
		if a.Source == "tree" {
			names = append(names, filepath.ToSlash(relTo(t.dir, filepath.Join(t.cwd, filepath.FromSlash(a.Path)))))
		}
	}
	held, err := c.repo.Digests(ctx, commit, names)
	if err != nil {
		return "", err
	}
	tree, err := os.OpenRoot(f.place)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()
	for _, name := range names {
		if _, ok := held[name]; ok {
			continue
		}
		data, err := tree.ReadFile(filepath.FromSlash(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = writeDurably(filepath.Join(to, filepath.FromSlash(name)), c.redact.Bytes(data))
		}
		if err != nil {
			return "", fmt.Errorf("saving the output %s: %w", name, err)
		}
		where = to
	}
	return where, nil
}

// writeDurably puts a file in place that outlives a power loss.
func writeDurably(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
