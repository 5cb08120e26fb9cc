package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Merged is what git makes of two commits.
type Merged struct {
	Tree      string   // with markers in it where Conflicts is not empty
	Conflicts []string // the files, with slashes; nil = it merges
}

// Merge lets git merge two commits, from where their histories part, without touching
// index, files or branches.
func (r *Repo) Merge(ctx context.Context, ours, theirs string) (Merged, error) {
	g, err := r.git.undriven(ctx)
	if err != nil {
		return Merged{}, err
	}
	out, err := g.run(ctx, "merge-tree", "--write-tree", "-z", "--name-only", "--messages", ours, theirs)
	switch {
	case err == nil:
		return Merged{Tree: fields(out)[0]}, nil
	case code(err) == 1:
		return readConflicts(fields(out), ours, theirs)
	}
	return Merged{}, errors.Join(fmt.Errorf("merging %.12s and %.12s: %w", ours, theirs, err), g.tooOld(ctx))
}

// MergeFrom is Merge with the changes that theirs makes to base, wherever that is in
// the history of ours. The oldest git that merges so has no option for it: it is told
// that ours begins at base.
func (r *Repo) MergeFrom(ctx context.Context, base, ours, theirs string) (Merged, error) {
	tree, err := r.TreeOf(ctx, ours)
	if err != nil {
		return Merged{}, err
	}
	begun, err := r.Commit(ctx, Commit{Tree: tree, Parents: []string{base}, Message: "target", At: time.Unix(0, 0)})
	if err != nil {
		return Merged{}, err
	}
	return r.Merge(ctx, begun, theirs)
}

// readConflicts reads what git says of a merge that it cannot make: the tree, the files,
// nothing, and then messages: how many files, those, a kind, a text. Behind them may be
// words for a person about submodules.
func readConflicts(said []string, sides ...string) (Merged, error) {
	m := Merged{Tree: said[0]}
	end := slices.Index(said, "")
	if end < 0 {
		end = len(said)
	}
	names := slices.Clone(said[1:end])
	for rest := said[min(end+1, len(said)):]; len(rest) > 0; {
		n, err := strconv.Atoi(rest[0])
		if err != nil || n < 0 || n+3 > len(rest) {
			break
		}
		if strings.HasPrefix(rest[n+1], "CONFLICT") {
			names = append(names, rest[1:n+1]...)
		}
		rest = rest[n+3:]
	}
	for i, name := range names {
		names[i] = asCommitted(name, sides)
	}
	slices.Sort(names)
	if m.Conflicts = slices.Compact(names); len(names) == 0 {
		return Merged{}, fmt.Errorf("git merge-tree cannot merge %.12s and %.12s, and does not say which files", sides[0], sides[1])
	}
	return m, nil
}

// asCommitted is the name of a file that git moved aside, to one with its side behind it.
func asCommitted(name string, sides []string) string {
	for _, side := range sides {
		if at := strings.LastIndex(name, "~"+side); at > 0 {
			return name[:at]
		}
	}
	return name
}

// undriven is inert with the merge drivers that the repository's or the person's
// configuration names failing: what they would merge is a conflict.
func (g git) undriven(ctx context.Context) (git, error) {
	g, err := g.inert(ctx)
	if err != nil {
		return g, err
	}
	out, err := g.do(ctx, call{args: []string{"config", "-z", "--name-only", "--get-regexp", `^merge\..*\.driver$`}, user: true})
	if err != nil && code(err) != 1 {
		return g, err
	}
	off := append(slices.Clone(g.config), "merge.renames=true", "merge.directoryRenames=conflict", "merge.renormalize=false", "merge.conflictStyle=merge")
	for _, key := range fields(out) {
		if strings.Contains(key, "=") {
			return g, fmt.Errorf("git's configuration has the merge driver %q, which cannot be switched off; give it a name without =", key)
		}
		off = append(off, key+"=false")
	}
	g.config = off
	return g, nil
}

// tooOld says that this git cannot merge without a checkout, nil when it can.
func (g git) tooOld(ctx context.Context) error {
	out, err := g.run(ctx, "version")
	if err != nil {
		return err
	}
	var major, minor int
	if n, _ := fmt.Sscanf(string(out), "git version %d.%d", &major, &minor); n == 2 && (major < 2 || major == 2 && minor < 38) {
		return fmt.Errorf("%s cannot merge without a checkout: git 2.38 or newer is needed", strings.TrimSpace(string(out)))
	}
	return nil
}

// Commit is a commit to be made.
type Commit struct {
	Tree      string
	Parents   []string
	Message   string // whole, with trailers
	Author    string // "" = orchestrate
	Committer Person // zero = orchestrate
	At        time.Time
}

// Person is whom git's configuration names.
type Person struct{ Name, Email string }

// Commit makes a commit that is on no branch, unsigned.
func (r *Repo) Commit(ctx context.Context, c Commit) (string, error) {
	args := []string{"commit-tree", "--no-gpg-sign", c.Tree}
	for _, p := range c.Parents {
		args = append(args, "-p", p)
	}
	date := fmt.Sprintf("@%d +0000", c.At.Unix())
	env := []string{"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}
	if c.Author != "" {
		env = append(env, "GIT_AUTHOR_NAME="+c.Author)
	}
	if c.Committer != (Person{}) {
		env = append(env, "GIT_COMMITTER_NAME="+c.Committer.Name, "GIT_COMMITTER_EMAIL="+c.Committer.Email)
	}
	out, err := r.git.do(ctx, call{args: append(args, "-F", "-"), stdin: strings.NewReader(c.Message + "\n"), env: env})
	return strings.TrimSpace(string(out)), err
}

// Person is who commits here by the person's own environment and configuration; zero when
// these name nobody. Asking runs nothing.
func (r *Repo) Person(ctx context.Context) (p Person, err error) {
	p = Person{Name: os.Getenv("GIT_COMMITTER_NAME"), Email: os.Getenv("GIT_COMMITTER_EMAIL")}
	for key, to := range map[string]*string{"user.name": &p.Name, "user.email": &p.Email} {
		if *to != "" {
			continue
		}
		out, err := r.git.do(ctx, call{args: []string{"config", "-z", "--get", key}, user: true})
		if err != nil && code(err) != 1 {
			return Person{}, err
		}
		*to = strings.TrimSpace(strings.TrimSuffix(string(out), "\x00"))
	}
	if p.Name == "" || p.Email == "" {
		return Person{}, nil
	}
	return p, nil
}

// TreeOf is the tree of a commit.
func (r *Repo) TreeOf(ctx context.Context, commit string) (string, error) {
	out, err := r.git.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{tree}")
	return strings.TrimSpace(string(out)), err
}

// Reaches says whether the history of tip has a commit; it has none that is not there.
func (r *Repo) Reaches(ctx context.Context, tip, commit string) (bool, error) {
	if there, err := r.Has(ctx, commit); err != nil || !there {
		return false, err
	}
	_, err := r.git.run(ctx, "merge-base", "--is-ancestor", commit, tip)
	if code(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// Ahead is how many commits the history of one has that that of another has not.
func (r *Repo) Ahead(ctx context.Context, commit, of string) (int, error) {
	out, err := r.git.run(ctx, "rev-list", "--count", "--end-of-options", commit, "^"+of)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// Grown is how many commits a branch has that a commit has not; a branch that is not there
// has none.
func (r *Repo) Grown(ctx context.Context, branch, of string) (int, error) {
	tip, err := r.tipOf(ctx, "refs/heads/"+branch)
	if err != nil || tip == "" || tip == of {
		return 0, err
	}
	return r.Ahead(ctx, tip, of)
}
