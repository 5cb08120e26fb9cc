package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/arbiter"
)

// citeReader looks up what the arbiter cites.
type citeReader struct {
	ctx     context.Context
	run     *run
	offered map[arbiter.Citation]bool
}

// Line implements arbiter.Reader: paths are from the top of the tree or from the
// job's cwd.
func (c citeReader) Line(job, path string, line int) (string, bool) {
	j, ok := c.run.jobs[job]
	if !ok {
		return "", false
	}
	names := []string{path}
	if rel, err := filepath.Rel(c.run.plan.top(), filepath.Join(j.planned.Job.Cwd, filepath.FromSlash(path))); err == nil && filepath.IsLocal(rel) {
		names = append(names, filepath.ToSlash(rel))
	}
	for _, name := range names {
		if text, ok := c.run.lineAt(c.ctx, j, name, line); ok {
			return text, true
		}
	}
	return "", false
}

// lineAt is line n, from 1, of a file as the job left it: in its snapshot, else in
// the base, and where there is no repository in the folder itself.
func (r *run) lineAt(ctx context.Context, j *jobRun, name string, n int) (string, bool) {
	if r.plan.Repo != nil {
		commit := j.commit
		if commit == "" {
			commit = r.plan.Base
		}
		return r.plan.Repo.LineAt(ctx, commit, name, n)
	}
	root, err := os.OpenRoot(r.plan.Root)
	if err != nil {
		return "", false
	}
	defer root.Close() //nolint:errcheck // opened for reading
	data, err := root.ReadFile(filepath.FromSlash(name))
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if err != nil || n < 1 || n > len(lines) {
		return "", false
	}
	return lines[n-1], true
}

// Artifact implements arbiter.Reader: what the evidence offers, and nothing else
// that happens to lie in the run directory.
func (c citeReader) Artifact(job, path string) bool {
	return c.offered[arbiter.Citation{Kind: "artifact", Ref: job + ":" + path}]
}

// Check implements arbiter.Reader.
func (c citeReader) Check(job, name string) bool {
	return c.offered[arbiter.Citation{Kind: "command", Ref: job + ":" + name}]
}

// Commit implements arbiter.Reader.
func (c citeReader) Commit(job, sha string) bool {
	j, ok := c.run.jobs[job]
	if !ok || len(sha) < 7 {
		return false
	}
	return strings.HasPrefix(j.commit, sha) || strings.HasPrefix(c.run.plan.Base, sha)
}
