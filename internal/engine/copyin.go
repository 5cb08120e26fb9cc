package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	yaml "go.yaml.in/yaml/v4"

	"orchestrate/internal/ledger"
	"orchestrate/internal/secret"
	"orchestrate/internal/spec"
	"orchestrate/internal/workspace"
)

// Files of the checkout that git ignores, and that a job's worktree gets all the same,
// because the spec says so. Which these are is known before anything is dispatched, and
// with it what is secret in them.

// Bounds of what is copied into one worktree.
const (
	maxCopied    = 16 << 20  // bytes of a file
	maxAllCopied = 256 << 20 // bytes together
	mostCopied   = 1000      // files
)

// copied is one such file.
type copied struct {
	Path   string // slashes, from the top of the repository
	Mode   fs.FileMode
	SHA256 string
}

// toCopy is what some patterns name, seen from one folder.
type toCopy struct {
	files  []copied
	values []string // secrets in them
	notes  []string
	wrong  []fault
}

// fault is what is wrong with a pattern.
type fault struct {
	pattern int
	text    string
}

// findCopies finds what every job's worktree gets, and the secrets in it.
func (p *Plan) findCopies(ctx context.Context) (errs []spec.Diagnostic, err error) {
	p.copies, p.inCopies = map[string][]copied{}, nil
	known := map[string]toCopy{}
	for i := range p.Spec.Jobs {
		j := &p.Spec.Jobs[i]
		if len(j.Worktree.Copy) == 0 || p.noWorktree(j) != "" { // its route says so
			continue
		}
		key := strings.Join(append([]string{j.Cwd}, j.Worktree.Copy...), "\x00")
		found, ok := known[key]
		if !ok {
			if found, err = p.named(ctx, j.Cwd, j.Worktree.Copy); err != nil {
				return nil, err
			}
			known[key] = found
			p.Notes = append(p.Notes, found.notes...)
		}
		p.copies[j.ID], p.inCopies = found.files, append(p.inCopies, found.values...)
		for _, f := range found.wrong {
			errs = append(errs, spec.Diagnostic{
				Pos: j.Pos, Field: fmt.Sprintf("jobs[%d].worktree.copy[%d]", i, f.pattern), Rule: "copy",
				Message: fmt.Sprintf("%q %s", j.Worktree.Copy[f.pattern], f.text),
			})
		}
	}
	return errs, nil
}

// named finds what patterns name. The error is about the folder or about git.
func (p *Plan) named(ctx context.Context, cwd string, patterns []string) (found toCopy, err error) {
	root, err := os.OpenRoot(cwd)
	if err != nil {
		return found, err
	}
	defer root.Close() //nolint:errcheck // opened for reading
	by := map[string]int{}
	var names []string
	for i, pattern := range patterns {
		some, wrong := p.matches(root, cwd, pattern)
		if wrong != "" {
			found.wrong = append(found.wrong, fault{i, wrong})
		}
		for _, name := range some {
			if _, twice := by[name]; !twice {
				by[name], names = i, append(names, name)
			}
		}
	}
	if len(names) > mostCopied {
		found.wrong = append(found.wrong, fault{by[names[mostCopied]], fmt.Sprintf("and those before it name more than %d files; name fewer, and let setup make the others", mostCopied)})
		return found, nil
	}
	standing, err := p.Repo.Standing(ctx, names)
	if err != nil {
		return found, fmt.Errorf("what git ignores of the files to copy: %w", err)
	}
	all := int64(0)
	for _, name := range names {
		switch {
		case standing.Ignored[name]:
			size, wrong := found.take(p.Repo.Top(), name)
			if all += size; wrong == "" && all > maxAllCopied {
				wrong, all = fmt.Sprintf("and those before it name more than %d MiB; name fewer, and let setup make the others", maxAllCopied>>20), 0
			}
			if wrong != "" {
				found.wrong = append(found.wrong, fault{by[name], wrong})
			}
		case standing.Tracked[name]:
			err = errors.Join(err, found.leave(ctx, p.Repo, name))
		default:
			found.wrong = append(found.wrong, fault{by[name], fmt.Sprintf("names %s, which git neither tracks nor ignores: the copy would pass for the job's work; commit it, or ignore it (.gitignore)", name)})
		}
	}
	return found, err
}

// matches are the regular files that a pattern names, by their paths from the top of the
// repository, without git's and the run's own.
func (p *Plan) matches(root *os.Root, cwd, pattern string) (names []string, wrong string) {
	all, err := doublestar.Glob(root.FS(), pattern, doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
	if err != nil {
		return nil, "cannot be looked for: " + err.Error()
	}
	for _, name := range all {
		full := filepath.Join(cwd, filepath.FromSlash(name))
		info, err := root.Lstat(filepath.FromSlash(name))
		switch {
		case err != nil:
			return nil, "cannot be looked at: " + err.Error()
		case info.IsDir() || within(p.ours(), full) || strings.Contains("/"+name+"/", "/.git/"):
			continue
		case !info.Mode().IsRegular() || throughLink(full):
			return nil, fmt.Sprintf("names %s, which is no regular file or lies behind a symbolic link; only regular files are copied", name)
		}
		names = append(names, relTo(p.Repo.Top(), full))
	}
	if len(names) == 0 {
		wrong = fmt.Sprintf("matches no file in %s; make the file, mend the pattern (a folder is named as FOLDER/**), or leave it out", cwd)
	}
	return names, wrong
}

// throughLink reports whether a symbolic link is in a path.
func throughLink(full string) bool {
	real, err := filepath.EvalSymlinks(full)
	return err != nil || real != full
}

// take reads a file that will be copied, for its digest and its secrets.
func (t *toCopy) take(top, name string) (size int64, wrong string) {
	data, mode, err := readFrom(top, name)
	if err != nil {
		return 0, fmt.Sprintf("names %s, which cannot be copied: %v", name, err)
	}
	values, why := secret.FromText(data)
	if why != "" {
		t.notes = append(t.notes, fmt.Sprintf("values in %s, which is copied, are not known as secrets, only what has the shape of one is: %s", name, why))
	} else {
		values = append(values, settings(data)...)
	}
	t.files, t.values = append(t.files, copied{name, mode, digest(data)}), append(t.values, values...)
	return int64(len(data)), ""
}

// leave says of a file that git tracks that the tree has it already, and perhaps another.
func (t *toCopy) leave(ctx context.Context, repo *workspace.Repo, name string) error {
	dirty, err := repo.Dirty(ctx)
	if slices.Contains(dirty, name) {
		t.notes = append(t.notes, fmt.Sprintf("%s is not copied: git tracks it, so worktrees have it as it is in the commit that they start from, without what was changed in the checkout", name))
	}
	return err
}

// readFrom reads a regular file below a folder, of at most maxCopied bytes.
func readFrom(top, name string) (data []byte, mode fs.FileMode, err error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close() //nolint:errcheck // opened for reading
	if info, err := root.Lstat(filepath.FromSlash(name)); err != nil || !info.Mode().IsRegular() {
		return nil, 0, errors.Join(err, errors.New("it is no regular file"))
	}
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	data, err = io.ReadAll(io.LimitReader(f, maxCopied+1))
	if err == nil && len(data) > maxCopied {
		err = fmt.Errorf("it has more than %d MiB; let setup make it, or fetch it", maxCopied>>20)
	}
	return data, info.Mode().Perm(), err
}

// settings are the secrets among the values of a YAML or JSON text; of none in another.
func settings(data []byte) (values []string) {
	for dec := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var doc yaml.Node
		if dec.Decode(&doc) != nil {
			return values
		}
		if len(doc.Content) > 0 && doc.Content[0].Kind != yaml.ScalarNode { // else it is any text
			values = append(values, settingsOf("", &doc)...)
		}
	}
}

func settingsOf(name string, n *yaml.Node) (values []string) {
	switch n.Kind {
	case yaml.ScalarNode:
		return secret.FromSetting(name, n.Value)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			values = append(values, settingsOf(n.Content[i].Value, n.Content[i+1])...)
		}
	default:
		for _, item := range n.Content { // an alias has none: its anchor is looked at
			values = append(values, settingsOf(name, item)...)
		}
	}
	return values
}

// copyIn gives an attempt's worktree the files that the spec names, as they were when
// their secrets were looked for.
func (r *run) copyIn(ctx context.Context, a *attempt) error {
	files := r.plan.copies[a.job.ID]
	if len(files) == 0 || !a.at.isolated || a.resumes != nil {
		return nil
	}
	defer r.under(a.job.ID, ledger.StepSetup, "copy")()
	standing, err := a.at.tree.Standing(ctx, namesOfCopies(files))
	if err != nil {
		return fmt.Errorf("what git ignores in the worktree of job %s: %w", a.job.ID, err)
	}
	to, err := os.OpenRoot(a.at.top)
	if err != nil {
		return err
	}
	defer to.Close() //nolint:errcheck // what is written in it is closed for itself
	for _, f := range files {
		switch {
		case standing.Ignored[f.Path]:
			if err := r.copyOne(to, f); err != nil {
				return fmt.Errorf("%s cannot be copied into the worktree of job %s: %w", f.Path, a.job.ID, err)
			}
		case standing.Tracked[f.Path]:
			r.tell(fmt.Sprintf("job %s: %s is not copied, it is in the commit that the worktree starts from", a.job.ID, f.Path))
		default:
			return fmt.Errorf("%s is not ignored in commit %.12s that the worktree of job %s starts from, so the copy would pass for its work: commit the .gitignore that ignores it", f.Path, a.at.tree.Base, a.job.ID)
		}
	}
	return nil
}

func (r *run) copyOne(to *os.Root, f copied) (err error) {
	data, _, err := readFrom(r.plan.Repo.Top(), f.Path)
	if err != nil {
		return err
	}
	if digest(data) != f.SHA256 {
		return fmt.Errorf("it has changed since this engine began, and what is secret in it now is not known: `orchestrate resume %s --retry-failed` reads it anew; what succeeded with the old one stays as it is", r.led.ID)
	}
	name := filepath.FromSlash(f.Path)
	if err := to.MkdirAll(filepath.FromSlash(path.Dir(f.Path)), 0o755); err != nil {
		return err
	}
	out, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.Mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := out.Write(data); err != nil {
		return err
	}
	return out.Chmod(f.Mode) // whatever the umask took away
}

func namesOfCopies(files []copied) (names []string) {
	for _, f := range files {
		names = append(names, f.Path)
	}
	return names
}
