package engine

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/arbiter"
	"orchestrate/internal/ledger"
	"orchestrate/internal/workspace"
)

// citeReader looks up what the arbiter cites.
type citeReader struct {
	ctx     context.Context
	run     *run
	offered map[arbiter.Citation]bool
	folder  string // of the arbiter's tree, with what the jobs left; "" = it had no tree
}

// Line implements arbiter.Reader: paths are from the top of the tree or from the
// job's cwd, or they are those of the arbiter's own tree.
func (c citeReader) Line(job, name string, line int) (string, bool) {
	j, ok := c.run.jobs[job]
	if !ok {
		return "", false
	}
	if folder, of, what := c.Laid(name); folder != "" {
		return c.lineOf(j, what, line, of == job)
	}
	for _, name := range c.names(j, name) {
		if text, ok := c.run.lineAt(c.ctx, j, name, line); ok {
			return text, true
		}
	}
	return "", false
}

// names are the paths from the top of the tree that a path may mean.
func (c citeReader) names(j *jobRun, name string) []string {
	name = c.fromTop(name)
	names := []string{name}
	if rel, err := filepath.Rel(c.run.plan.top(), filepath.Join(j.planned.Job.Cwd, filepath.FromSlash(name))); err == nil && filepath.IsLocal(rel) {
		names = append(names, filepath.ToSlash(rel))
	}
	return names
}

// own reports whether what is cited, and there, shows what a job did.
func (c citeReader) own(job string, cited arbiter.Citation) bool {
	j, ok := c.run.jobs[job]
	switch {
	case !ok:
		return false
	case j.commit == "" || j.commit == cmp.Or(j.base, c.run.plan.Base):
		return true // it changed nothing that is in a tree of commits
	case cited.Kind == "commit":
		return strings.HasPrefix(j.commit, cited.Ref)
	case cited.Kind == "file":
		name, _ := arbiter.CutLines(cited.Ref)
		folder, _, what := c.Laid(name)
		return folder != "" && !strings.HasPrefix(what, filesFolder+"/") || c.changed(j, name)
	}
	return true
}

// changed reports whether a job changed the file at a path.
func (c citeReader) changed(j *jobRun, name string) bool {
	if j.patch == nil {
		return false
	}
	names := c.names(j, name)
	return slices.ContainsFunc(j.patch.Files, func(f workspace.Change) bool { return slices.Contains(names, f.Path) })
}

// lineOf is a line of a file in the folder of a job: of the snapshot, or of what the job
// left in the run directory and is offered.
func (c citeReader) lineOf(j *jobRun, what string, line int, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	if name, ok := strings.CutPrefix(what, filesFolder+"/"); ok {
		return c.run.lineAt(c.ctx, j, name, line)
	}
	id := j.planned.Job.ID
	if !c.offers(id, what) {
		return "", false
	}
	data, err := c.run.led.ReadFile(ledger.JobPath(id, what))
	if err != nil {
		return "", false
	}
	return nthLine(data, line)
}

// fromTop is a path as it is from the top of the arbiter's tree, where it leads there.
func (c citeReader) fromTop(name string) string {
	said := filepath.FromSlash(name)
	if !filepath.IsAbs(said) {
		return name
	}
	roots := []string{c.run.treeRoot}
	if real, err := filepath.EvalSymlinks(c.run.treeRoot); err == nil {
		roots = append(roots, real) // as who works in there is told
	}
	for _, root := range roots {
		for n := 1; n <= c.run.attempts[ledger.ArbiterJob]+1; n++ {
			if rel, err := filepath.Rel(filepath.Join(root, ledger.TreeName(ledger.ArbiterJob, n)), said); err == nil && filepath.IsLocal(rel) {
				return filepath.ToSlash(rel)
			}
		}
	}
	return name
}

// Laid implements arbiter.Reader.
func (c citeReader) Laid(name string) (folder, job, file string) {
	if c.folder == "" {
		return "", "", ""
	}
	rest, ok := strings.CutPrefix(path.Clean(c.fromTop(name)), c.folder+"/")
	if job, file, _ = strings.Cut(rest, "/"); !ok || file == "" {
		return "", "", ""
	}
	return c.folder, job, file
}

// lineAt is line n, from 1, of a file as the job left it: in its snapshot, else in the
// commit that its tree was at, and where there is no repository in the folder itself.
func (r *run) lineAt(ctx context.Context, j *jobRun, name string, n int) (string, bool) {
	if r.plan.Repo != nil {
		return r.plan.Repo.LineAt(ctx, r.saw(j), name, n)
	}
	root, err := os.OpenRoot(r.plan.Root)
	if err != nil {
		return "", false
	}
	defer root.Close() //nolint:errcheck // opened for reading
	data, err := root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return "", false
	}
	return nthLine(data, n)
}

// nthLine is line n, from 1, of a text.
func nthLine(data []byte, n int) (string, bool) {
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if n < 1 || n > len(lines) {
		return "", false
	}
	return lines[n-1], true
}

// Artifact implements arbiter.Reader: what the evidence offers, and nothing else
// that happens to lie in the run directory.
func (c citeReader) Artifact(job, name string) bool {
	if folder, of, what := c.Laid(name); folder != "" {
		return of == job && c.offers(job, what)
	}
	return c.offered[arbiter.Citation{Kind: "artifact", Ref: job + ":" + name}]
}

// offers reports whether the evidence offers a file of a job's directory.
func (c citeReader) offers(job, what string) bool {
	ref := job + ":" + strings.TrimPrefix(what, ledger.ArtifactsDir+"/")
	return c.offered[arbiter.Citation{Kind: "artifact", Ref: ref}]
}

// Check implements arbiter.Reader.
func (c citeReader) Check(job, name string) bool {
	return c.offered[arbiter.Citation{Kind: "command", Ref: job + ":" + name}]
}

// Commit implements arbiter.Reader: the job's snapshot, what it started from, and the base
// of the run.
func (c citeReader) Commit(job, sha string) bool {
	j, ok := c.run.jobs[job]
	if !ok || len(sha) < 7 {
		return false
	}
	for _, commit := range []string{j.commit, j.base, c.run.plan.Base} {
		if strings.HasPrefix(commit, sha) {
			return true
		}
	}
	return false
}

// saw is the commit that shows a job's work: its snapshot, or for one that only looked
// what its tree held.
func (r *run) saw(j *jobRun) string { return cmp.Or(j.commit, j.base, r.plan.Base) }
