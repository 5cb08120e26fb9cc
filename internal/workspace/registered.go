package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"orchestrate/internal/shellword"
)

// Registration is what git keeps of one worktree, read as it stands there: nothing in it
// is believed before it is held against what was recorded.
type Registration struct {
	GitDir string // below the repository's git directory
	Dir    string // the worktree that it names, "" = it names none
	Branch string // that HEAD is on, "" = on none
	Commit string // that HEAD is at when it is on no branch
	Half   bool   // git was cut off while it made it
	Locked bool   // by `git worktree lock`
	Why    string // that was locked
}

// Registrations are those of all worktrees of the repository.
func (r *Repo) Registrations() ([]Registration, error) {
	all := filepath.Join(r.common, "worktrees")
	entries, err := os.ReadDir(all)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var found []Registration
	for _, e := range entries {
		if e.IsDir() {
			found = append(found, registration(filepath.Join(all, e.Name())))
		}
	}
	return found, err
}

func registration(at string) Registration {
	reg := Registration{GitDir: at}
	if link := wordIn(at, "gitdir"); link != "" {
		if link = filepath.FromSlash(link); !filepath.IsAbs(link) {
			link = filepath.Join(at, link)
		}
		reg.Dir = filepath.Dir(link)
	}
	head := wordIn(at, "HEAD")
	if ref, ok := strings.CutPrefix(head, "ref: "); ok {
		reg.Branch = strings.TrimPrefix(ref, "refs/heads/")
	} else {
		reg.Commit = head
	}
	if mark, err := os.ReadFile(filepath.Join(at, "locked")); err == nil {
		reg.Why = strings.TrimSpace(string(mark))
		// git writes its own mark before all else, a person's may be empty.
		reg.Half = strings.HasPrefix("initializing", reg.Why) && (reg.Why != "" || reg.Dir == "")
		reg.Locked = !reg.Half
	}
	reg.Half = reg.Half || reg.Dir == "" || head == "" || wordIn(at, "commondir") == ""
	return reg
}

// wordIn is what a small file of a registration says, "" when it says nothing.
func wordIn(at, name string) string {
	data, err := os.ReadFile(filepath.Join(at, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// Names reports whether the registration is that of the worktree dir, whatever links are
// on the way to it.
func (g Registration) Names(dir string) bool {
	if g.Dir == "" {
		return false
	}
	is, err := resolved(g.Dir)
	if err != nil {
		return false
	}
	want, err := resolved(dir)
	return err == nil && is == want
}

// At reports whether the registration is that of the worktree dir, and dir is where git
// recorded it: no link that was made since leads from there to somewhere else.
func (g Registration) At(dir string) bool {
	real, err := resolved(dir)
	return err == nil && g.Dir != "" && samePath(real, filepath.Clean(g.Dir))
}

// HowToRemove is what a person can do to have a worktree removed. git refuses to remove
// one in which a submodule could be, whatever is in it.
func (r *Repo) HowToRemove(ctx context.Context, reg Registration) string {
	dir := shellword.Quote(reg.Dir)
	t := r.treeAt(TreePlace{Dir: r.Top(), GitDir: reg.GitDir}) // its index alone is read
	out, err := t.git.run(ctx, "ls-files", "--stage", "-z")
	modules, _ := os.ReadDir(filepath.Join(reg.GitDir, "modules"))
	links := slices.ContainsFunc(fields(out), func(entry string) bool { return strings.HasPrefix(entry, SubmoduleMode+" ") })
	if err == nil && (links || len(modules) > 0) {
		return "git -C " + dir + " status --ignored, and if nothing of it is needed rm -r " + dir + ", then git worktree prune"
	}
	return "git worktree remove " + dir
}

// Ref is a name that git has for a commit.
type Ref struct {
	Name, Commit string
	In           string // the worktree that has it checked out, "" = none
}

// Refs are all refs of the repository; a tag stands for what it names.
func (r *Repo) Refs(ctx context.Context) ([]Ref, error) {
	out, err := r.git.run(ctx, "for-each-ref", "--format=%(refname) %(objectname) %(*objectname)")
	if err != nil {
		return nil, err
	}
	in, err := r.checkedOut()
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) < 2 {
			return nil, fmt.Errorf("git for-each-ref: %q is no ref", line)
		}
		refs = append(refs, Ref{Name: words[0], Commit: words[len(words)-1], In: in[words[0]]})
	}
	return refs, nil
}

// Times are when the commits of the refs below a prefix were made.
func (r *Repo) Times(ctx context.Context, prefix string) (map[string]time.Time, error) {
	out, err := r.git.run(ctx, "for-each-ref", "--format=%(refname) %(committerdate:unix)", prefix)
	if err != nil {
		return nil, err
	}
	at := map[string]time.Time{}
	for line := range strings.Lines(string(out)) {
		name, when, _ := strings.Cut(strings.TrimSpace(line), " ")
		if seconds, err := strconv.ParseInt(when, 10, 64); err == nil { // what is no commit has no time
			at[name] = time.Unix(seconds, 0).UTC()
		}
	}
	return at, nil
}

// checkedOut tells in which worktree a branch is, by its ref. git is not asked: it fails
// while one registration is half made.
func (r *Repo) checkedOut() (map[string]string, error) {
	regs, err := r.Registrations()
	if err != nil {
		return nil, err
	}
	in := map[string]string{}
	for _, reg := range regs {
		in["refs/heads/"+reg.Branch] = reg.Dir
	}
	if ref, ok := strings.CutPrefix(wordIn(r.common, "HEAD"), "ref: "); ok {
		if in[ref] = filepath.Dir(r.common); r.git.gitDir == r.common {
			in[ref] = r.Top()
		}
	}
	return in, nil
}

// Unreached tells which of these commits none of the refs leads to. What is not in the
// repository is reached by none.
func (r *Repo) Unreached(ctx context.Context, commits []string, refs []Ref) (map[string]bool, error) {
	lost := map[string]bool{}
	var ask strings.Builder
	for _, c := range commits {
		lost[c] = true
		ask.WriteString(c + "\n")
	}
	if len(commits) == 0 {
		return lost, nil
	}
	for _, ref := range refs {
		ask.WriteString("^" + ref.Commit + "\n")
	}
	there, err := r.present(ctx, commits)
	if err != nil {
		return nil, err
	}
	out, err := r.git.do(ctx, call{args: []string{"rev-list", "--ignore-missing", "--stdin"}, stdin: strings.NewReader(ask.String())})
	if err != nil {
		return nil, err
	}
	left := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		left[strings.TrimSpace(line)] = true
	}
	for _, c := range commits {
		lost[c] = left[c] || !there[c]
	}
	return lost, nil
}

// present tells which of these commits the repository holds.
func (r *Repo) present(ctx context.Context, commits []string) (map[string]bool, error) {
	out, err := r.git.do(ctx, call{
		args:  []string{"cat-file", "--batch-check=%(objectname) %(objecttype)"},
		stdin: strings.NewReader(strings.Join(commits, "\n") + "\n"),
	})
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) == 2 && words[1] == "commit" {
			there[words[0]] = true
		}
	}
	return there, nil
}

// ReachedFrom is a ref among those that count from which a commit is reached, "" when
// there is none.
func (r *Repo) ReachedFrom(ctx context.Context, commit string, counts func(ref string) bool) (string, error) {
	out, err := r.git.run(ctx, "for-each-ref", "--format=%(refname)", "--contains", commit)
	if code(err) > 0 { // it is not in the repository
		return "", nil
	}
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimSpace(line); counts(name) {
			return name, nil
		}
	}
	return "", err
}

// Looks is how worktrees are looked at one after the other: what the repository's
// configuration would have git run is found out once.
type Looks struct {
	repo   *Repo
	config []string
}

// Looks begins to look at worktrees.
func (r *Repo) Looks(ctx context.Context) (*Looks, error) {
	g, err := r.git.inert(ctx)
	return &Looks{repo: r, config: g.config}, err
}

// inert is the tree's git without what its configuration would run. One with a
// configuration of its own is asked for it.
func (l *Looks) inert(ctx context.Context, t *Tree) (git, error) {
	g := t.git
	if _, err := os.Lstat(filepath.Join(g.gitDir, "config.worktree")); !errors.Is(err, fs.ErrNotExist) {
		return g.inert(ctx)
	}
	g.config = l.config
	return g, nil
}

// Held counts the files of a worktree that no commit holds: those that differ from what
// its HEAD is at or are untracked, and submodules that hold files. A file that is missing
// is work too, except where unused says that nobody has worked there. Nothing is written.
func (l *Looks) Held(ctx context.Context, reg Registration, unused bool) (n int, err error) {
	t := l.repo.treeAt(TreePlace{Dir: reg.Dir, GitDir: reg.GitDir})
	g, err := l.inert(ctx, t)
	if err != nil {
		return 0, err
	}
	ix, err := t.present(ctx, g)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, ix.remove()) }()
	odd, err := ix.entries(ctx)
	if err != nil {
		return 0, err
	}
	names, err := ix.differing(ctx, odd)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		_, statErr := os.Lstat(filepath.Join(reg.Dir, filepath.FromSlash(name)))
		if !unused || statErr == nil {
			n++
		}
	}
	hidden, _, err := t.inLinks(ctx, odd)
	return n + len(hidden), err
}

// present is a temporary index that describes what the worktree's HEAD is at: a copy of
// its own, which has the times of the files, or one made from the commit.
func (t *Tree) present(ctx context.Context, g git) (*index, error) {
	ix, err := newIndex(g, filepath.Join(t.git.gitDir, "index"))
	if err != nil {
		return nil, err
	}
	if ix.there() {
		return ix, nil
	}
	if _, err := ix.run(ctx, nil, "read-tree", "HEAD"); err != nil {
		return nil, errors.Join(err, ix.remove())
	}
	return ix, nil
}
