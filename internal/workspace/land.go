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

	"orchestrate/internal/failpoint"
)

// Move brings a branch from one commit to another.
type Move struct {
	Ref     string // as Head says it, or that of a new branch
	New     bool   // the branch is made; the checkout is left alone
	From    string // the commit that it is at; that a new one begins at
	To      string
	Because string // for the reflog
}

// landingIndex is the index of the checkout as it is going to be, beside git's own.
const landingIndex = "orchestrate-index"

// Land moves the branch that is checked out, with index and files, or makes a new
// branch. Nothing is moved unless the checkout is on the branch, the branch at the
// commit, and no file stands in the way, which is looked at while git's own lock keeps
// every other git from changing it; why says what is otherwise. begin is called just
// before the first change: what it leaves must be enough to call Relearn, after a death
// at any moment. lock is that of the checkout; git holds it too.
func (r *Repo) Land(ctx context.Context, m Move, lock *os.File, begin func() error) (why []string, err error) {
	if m.New {
		return r.landNew(ctx, m, begin)
	}
	leave, err := r.holdIndex(m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if why, err := r.standing(ctx, m); err != nil || len(why) > 0 {
		return why, err
	}
	if err := begin(); err != nil {
		return nil, err
	}
	failpoint.Hit(failpoint.IntegrateIntent)
	calm := context.WithoutCancel(ctx) // from here on it is done, or undone
	if err := r.moveFiles(calm, m, lock); err != nil {
		return r.undone(calm, m, lock, err)
	}
	failpoint.Hit(failpoint.IntegrateFiles)
	if err := r.moveRef(calm, m); err != nil {
		return r.undone(calm, m, lock, err)
	}
	failpoint.Hit(failpoint.IntegrateRef)
	return nil, r.placeIndex()
}

func (r *Repo) landNew(ctx context.Context, m Move, begin func() error) ([]string, error) {
	if err := begin(); err != nil {
		return nil, err
	}
	failpoint.Hit(failpoint.IntegrateIntent)
	if err := r.moveRef(ctx, m); err != nil {
		return []string{fmt.Sprintf("the branch %s could not be made: %v", BranchOf(m.Ref), err)}, nil
	}
	failpoint.Hit(failpoint.IntegrateRef)
	return nil, nil
}

// undone puts the files back after a move that failed. Where it cannot, that is an error:
// Relearn has to be called.
func (r *Repo) undone(ctx context.Context, m Move, lock *os.File, cause error) ([]string, error) {
	stray, err := r.settleFiles(ctx, m, m.From, lock)
	if len(stray) > 0 && err == nil {
		var why []string
		why, err = r.strayed(ctx, m, stray)
		err = errors.Join(err, errors.New(strings.Join(why, "; ")))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("git could not move the checkout: %w", cause), err)
	}
	return []string{fmt.Sprintf("git could not move the checkout, and it was put back: %v", cause)}, nil
}

// holdIndex takes the lock by which git keeps others from changing a checkout. One that
// says it is ours is of a process that died: whoever comes here has the lock of the
// checkout, which that one had too.
func (r *Repo) holdIndex(m Move) (leave func() error, err error) {
	name := filepath.Join(r.git.gitDir, "index.lock")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) && ourLock(name) {
		f, err = os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0o644)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("another git command is at work in %s, or was killed there: %s is there; nothing was changed; when no git runs, remove that file and try again", r.Top(), name)
	}
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(lockMark + m.To + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(name))
	}
	return func() error { return os.Remove(name) }, nil
}

// lockMark begins an index.lock of ours. Git's own begin otherwise, or are empty.
const lockMark = "orchestrate moves this checkout to "

// Landing are the files in git's directory by which a checkout is being moved, or was
// when that was cut off.
func (r *Repo) Landing() (files []string) {
	if lock := filepath.Join(r.git.gitDir, "index.lock"); ourLock(lock) {
		files = append(files, lock)
	}
	for _, name := range []string{landingIndex, landingIndex + ".lock"} {
		file := filepath.Join(r.git.gitDir, name)
		if _, err := os.Lstat(file); err == nil {
			files = append(files, file)
		}
	}
	return files
}

func ourLock(name string) bool {
	data, err := os.ReadFile(name)
	return err == nil && strings.HasPrefix(string(data), lockMark)
}

// standing says what has changed of the target, or stands in the way.
func (r *Repo) standing(ctx context.Context, m Move) (why []string, err error) {
	if why, err = r.Moved(ctx, m); err != nil || len(why) > 0 {
		return why, err
	}
	return r.Unclean(ctx, m.From, m.To)
}

// Moved says that the checkout is on another branch than the one to be moved, or that
// at another commit.
func (r *Repo) Moved(ctx context.Context, m Move) (why []string, err error) {
	ref, at, err := r.Head(ctx)
	if err != nil {
		return nil, err
	}
	if ref != m.Ref {
		why = append(why, fmt.Sprintf("the checkout was on %s and is on %s now", shownRef(m.Ref), shownRef(ref)))
	} else if at != m.From {
		why = append(why, fmt.Sprintf("%s was at commit %.12s and is at %.12s now", shownRef(m.Ref), m.From, at))
	}
	return why, nil
}

func shownRef(ref string) string {
	if branch := BranchOf(ref); branch != "" {
		return "branch " + branch
	}
	return "no branch"
}

// Unclean says what keeps a checkout from being moved from one commit to another: what a
// person has not committed or not ended, and files that git does not know and would
// write over. to may be "".
func (r *Repo) Unclean(ctx context.Context, from, to string) (why []string, err error) {
	begun, err := r.Unfinished()
	if err != nil {
		return nil, err
	}
	if begun != "" {
		why = append(why, begun)
	}
	dirty, err := r.Dirty(ctx)
	if err != nil {
		return nil, err
	}
	inside, err := r.dirtySubmodules(ctx)
	if err != nil {
		return nil, err
	}
	if dirty = append(dirty, inside...); len(dirty) > 0 {
		slices.Sort(dirty)
		why = append(why, fmt.Sprintf("the checkout has changes that are not committed: %s", few(slices.Compact(dirty))))
	}
	if to == "" {
		return why, nil
	}
	blocked, err := r.inTheWay(ctx, from, to)
	if err == nil && len(blocked) > 0 {
		why = append(why, fmt.Sprintf("files that git ignores, or was told not to look at, are where the work goes: %s; move them away first", few(blocked)))
	}
	return why, err
}

// mostNamed is how many files a sentence names.
const mostNamed = 10

func few(names []string) string {
	shown := make([]string, 0, mostNamed)
	for _, name := range names[:min(len(names), mostNamed)] {
		shown = append(shown, shownName(name))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// shownName is a file's name, quoted where something in it could not be seen.
func shownName(name string) string {
	if quoted := strconv.Quote(name); quoted[1:len(quoted)-1] != name {
		return quoted
	}
	return name
}

// dirtySubmodules are the submodules in whose files something is not committed. Each is
// looked at by a git of ours: one that git starts itself would obey what lies there.
func (r *Repo) dirtySubmodules(ctx context.Context) (dirty []string, err error) {
	links, err := r.links(ctx)
	if err != nil {
		return nil, err
	}
	for _, link := range links {
		dir := filepath.Join(r.Top(), filepath.FromSlash(link))
		if _, err := os.Lstat(filepath.Join(dir, ".git")); errors.Is(err, fs.ErrNotExist) {
			continue // not filled
		}
		sub, err := Open(ctx, dir)
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", link, err)
		}
		sub.git.scratch = r.git.scratch
		names, err := sub.Dirty(ctx)
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", link, err)
		}
		deeper, err := sub.dirtySubmodules(ctx)
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", link, err)
		}
		for _, name := range append(names, deeper...) {
			dirty = append(dirty, link+"/"+name)
		}
	}
	return dirty, nil
}

// links are the submodules of the checkout.
func (r *Repo) links(ctx context.Context) (_ []string, err error) {
	ix, err := newIndex(r.git, filepath.Join(r.git.gitDir, "index"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ix.remove()) }()
	odd, err := ix.entries(ctx)
	return linksOf(odd), err
}

// moveFiles brings files and the landing index to the new commit. Git looks first and
// changes nothing when a file would be lost.
func (r *Repo) moveFiles(ctx context.Context, m Move, lock *os.File) error {
	g, ix, err := r.landing(ctx)
	if err != nil {
		return err
	}
	_, err = g.do(ctx, call{args: []string{"read-tree", "-m", "-u", m.From, m.To}, env: ix, lock: lock})
	return err
}

// landing begins the landing index as git's own is.
func (r *Repo) landing(ctx context.Context) (g git, env []string, err error) {
	if g, err = r.git.inert(ctx); err != nil {
		return g, nil, err
	}
	path := filepath.Join(r.git.gitDir, landingIndex)
	if err := errors.Join(removeIfThere(path+".lock"), removeIfThere(path)); err != nil {
		return g, nil, err
	}
	err = copyIndex(filepath.Join(r.git.gitDir, "index"), path)
	return g, []string{"GIT_INDEX_FILE=" + path}, err
}

// moveRef moves the ref unless somebody else has.
func (r *Repo) moveRef(ctx context.Context, m Move) error {
	from := m.From
	if m.New {
		from = strings.Repeat("0", len(m.To)) // it must not be there
	}
	args := []string{"update-ref", "-m", m.Because, m.Ref, m.To, from}
	if m.Ref == detached {
		args = slices.Insert(args, 1, "--no-deref")
	}
	_, err := r.git.run(ctx, args...)
	return err
}

// placeIndex makes the landing index git's own.
func (r *Repo) placeIndex() error {
	return os.Rename(filepath.Join(r.git.gitDir, landingIndex), filepath.Join(r.git.gitDir, "index"))
}
