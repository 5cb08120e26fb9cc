package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// Submodule is one that a commit holds, also one inside another.
type Submodule struct {
	Path   string // slashes, from the top of the outermost repository
	Commit string // that it is at
	Used   bool   // the checkout has it filled
	Lacks  string // why it cannot be filled from what is on this machine, "" = it can

	name  string      // in .gitmodules
	homes []string    // git directories that are it, or one of its checkouts
	store string      // objects that hold the commit whole
	below []Submodule // inside it
}

// level is a commit that may hold submodules, with where to look for what is of them.
type level struct {
	commit   string
	store    string   // its objects, "" = those of the repository itself
	homes    []string // git directories below which those of its submodules lie
	checkout string   // where the person has it checked out
	path     string   // from the top of the outermost repository
}

// Submodules lists the submodules of a commit, each before those inside it. Only
// objects that are on this machine already are looked for, and no configuration of a
// submodule is read.
func (r *Repo) Submodules(ctx context.Context, commit string) ([]Submodule, error) {
	top, err := r.submodules(ctx, commit)
	return flat(top), err
}

// Unnamed lists the repositories that a commit records by their commit only and that no
// .gitmodules names: git leaves them empty, and nobody can fill them.
func (r *Repo) Unnamed(ctx context.Context, commit string) ([]string, error) {
	named, err := r.mapped(ctx, level{commit: commit})
	if err != nil {
		return nil, err
	}
	out, err := r.git.run(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, line := range fields(out) {
		meta, at, _ := strings.Cut(line, "\t")
		if strings.HasPrefix(meta, "160000 ") && named[at] == "" {
			paths = append(paths, at)
		}
	}
	return paths, nil
}

func flat(all []Submodule) (out []Submodule) {
	for _, m := range all {
		out = append(append(out, m), flat(m.below)...)
	}
	return out
}

func (r *Repo) submodules(ctx context.Context, commit string) ([]Submodule, error) {
	return r.submodulesOf(ctx, level{commit: commit, homes: []string{r.git.gitDir, r.common}, checkout: r.Top()})
}

func (r *Repo) submodulesOf(ctx context.Context, in level) ([]Submodule, error) {
	named, err := r.mapped(ctx, in)
	if err != nil || len(named) == 0 {
		return nil, err
	}
	args := []string{"ls-tree", "-z", "--full-tree", in.commit, "--"}
	for at := range named {
		args = append(args, at)
	}
	out, err := r.git.do(ctx, call{args: args, env: beside(in.store)})
	if err != nil {
		return nil, err
	}
	var all []Submodule
	for _, line := range fields(out) { // "160000 commit <sha>\t<path>"
		meta, at, _ := strings.Cut(line, "\t")
		words := strings.Fields(meta)
		if len(words) != 3 || words[0] != "160000" {
			continue
		}
		m := Submodule{Path: path.Join(in.path, at), Commit: words[2], name: named[at]}
		if err := r.locate(ctx, in, at, &m); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// mapped are the names of a commit's submodules by their paths, as its .gitmodules
// says. What cannot be a path inside it does not count.
func (r *Repo) mapped(ctx context.Context, in level) (map[string]string, error) {
	out, err := r.git.do(ctx, call{args: []string{"ls-tree", "-z", "--full-tree", in.commit, "--", ".gitmodules"}, env: beside(in.store)})
	if err != nil || !strings.HasPrefix(string(out), "100") { // a link to elsewhere is none, for git neither
		return nil, err
	}
	out, err = r.git.do(ctx, call{
		args: []string{"config", "-z", "--blob", in.commit + ":.gitmodules", "--get-regexp", `^submodule\..*\.path$`},
		env:  beside(in.store),
	})
	if err != nil && code(err) != 1 { // 1 = none
		return nil, fmt.Errorf("the .gitmodules of commit %.12s: %w", in.commit, err)
	}
	named := map[string]string{}
	for _, entry := range fields(out) {
		key, at, _ := strings.Cut(entry, "\n")
		name := strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".path")
		at = strings.TrimSuffix(at, "/")
		if within(at) && path.Clean(at) == at && within(name) {
			named[at] = name
		}
	}
	return named, nil
}

// locate finds the objects of a submodule, and those of the submodules inside it.
func (r *Repo) locate(ctx context.Context, in level, at string, m *Submodule) error {
	checkout := filepath.Join(in.checkout, filepath.FromSlash(at))
	own, err := gitDirOf(checkout)
	if err != nil {
		return err
	}
	m.Used = own != ""
	for _, home := range in.homes {
		m.homes = append(m.homes, filepath.Join(home, "modules", filepath.FromSlash(m.name)))
	}
	if own != "" {
		m.homes = append(m.homes, own)
	}
	m.Lacks = "nothing of it is on this machine"
	for _, home := range m.homes {
		store, err := objectsOf(home)
		if err != nil {
			return err
		}
		if store == "" {
			continue
		}
		if m.Lacks, err = r.whole(ctx, m.Commit, store); err != nil {
			return err
		}
		if m.Lacks != "" {
			continue
		}
		m.store = store
		m.below, err = r.submodulesOf(ctx, level{commit: m.Commit, store: store, homes: m.homes, checkout: checkout, path: m.Path})
		return err
	}
	return nil
}

// whole says what of a commit is missing in a store of objects, "" = nothing.
func (r *Repo) whole(ctx context.Context, commit, store string) (string, error) {
	_, err := r.git.do(ctx, call{args: []string{"cat-file", "-e", commit + "^{tree}"}, env: beside(store)})
	switch {
	case code(err) > 0:
		return fmt.Sprintf("its commit %.12s is not on this machine", commit), nil
	case err != nil:
		return "", err
	}
	some, err := promised(store)
	if err != nil || !some {
		return "", err
	}
	n, err := r.git.missing(ctx, commit, beside(store))
	if err != nil || n == 0 {
		return "", err
	}
	return fmt.Sprintf("it is a partial clone, and %d objects of its commit %.12s are not on this machine", n, commit), nil
}

// gitDirOf is the git directory of a folder that is a checkout, "" = it is none.
func gitDirOf(dir string) (string, error) {
	at := filepath.Join(dir, ".git")
	info, err := os.Lstat(at)
	switch {
	case absent(err):
		return "", nil
	case err != nil:
		return "", err
	case info.IsDir():
		return at, nil
	case !info.Mode().IsRegular() || info.Size() > 1<<16:
		return "", nil
	}
	link, err := os.ReadFile(at)
	if err != nil {
		return "", err
	}
	to, ok := strings.CutPrefix(strings.TrimRight(string(link), "\r\n"), "gitdir: ")
	if !ok {
		return "", nil
	}
	if to = filepath.FromSlash(to); !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	return to, nil
}

// objectsOf is the folder with the objects of a git directory, "" = there is none.
func objectsOf(gitDir string) (string, error) {
	common, err := os.ReadFile(filepath.Join(gitDir, "commondir")) // it is that of a worktree
	if err == nil {
		to := filepath.FromSlash(strings.TrimSpace(string(common)))
		if !filepath.IsAbs(to) {
			to = filepath.Join(gitDir, to)
		}
		gitDir = to
	} else if !absent(err) {
		return "", err
	}
	store := filepath.Join(gitDir, "objects")
	if _, err = os.Stat(store); absent(err) {
		return "", nil
	}
	return store, err
}

// absent reports whether an error says that something is not there, also because what
// would be a folder above it is a file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// beside lets git find objects in another store as well.
func beside(store string) []string {
	if store == "" {
		return nil
	}
	return []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quoted(filepath.ToSlash(store))}
}

// quoted is a path as git reads it in quotes.
func quoted(p string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(p) {
		switch c := p[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}
