package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// hashLimit is the size in bytes up to which a file is known by its content and
// not only by size and time.
const hashLimit = 16 << 20

// walkLimit bounds the files of one plain folder that are looked at.
const walkLimit = 200_000

// Fingerprint is the state of a checkout or folder, for comparing with a later
// one. Ignored files are not in it.
type Fingerprint struct {
	Head    string            `json:"head"`    // commit, "" for a plain folder
	Entries map[string]string `json:"entries"` // path -> content; of a checkout only those that differ from Head
	Partial bool              `json:"partial"` // the folder was too large to see it all
}

// headEntry stands for a moved HEAD among changed paths.
const headEntry = "HEAD"

// Diff lists the paths whose state differs between f and later, sorted. A moved
// HEAD is listed as "HEAD".
func (f Fingerprint) Diff(later Fingerprint) []string {
	var changed []string
	if f.Head != later.Head {
		changed = append(changed, headEntry)
	}
	for name, was := range f.Entries {
		if is, ok := later.Entries[name]; !ok || is != was {
			changed = append(changed, name)
		}
	}
	for name := range later.Entries {
		if _, ok := f.Entries[name]; !ok {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed
}

// With is f with the state of the given paths as it is in later.
func (f Fingerprint) With(paths []string, later Fingerprint) Fingerprint {
	out := f
	out.Entries = maps.Clone(f.Entries)
	if out.Entries == nil {
		out.Entries = map[string]string{}
	}
	for _, name := range paths {
		is, ok := later.Entries[name]
		switch {
		case name == headEntry:
			out.Head = later.Head
		case ok:
			out.Entries[name] = is
		default:
			delete(out.Entries, name)
		}
	}
	return out
}

// Fingerprint records the state of the checkout: HEAD, all that differs from it,
// untracked files, and those files of the git directory that can make git run
// something (config, hooks). Paths below one of exclude (slashes, relative to
// Top) are left out. Nothing is written, not even the index.
func (r *Repo) Fingerprint(ctx context.Context, exclude ...string) (fp Fingerprint, err error) {
	g, err := r.git.inert(ctx)
	if err != nil {
		return Fingerprint{}, err
	}
	ix, err := newIndex(g, filepath.Join(r.git.gitDir, "index"))
	if err != nil {
		return Fingerprint{}, err
	}
	defer func() { err = errors.Join(err, ix.remove()) }()
	head, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		return Fingerprint{}, err
	}
	odd, err := ix.entries(ctx)
	if err != nil {
		return Fingerprint{}, err
	}
	names, err := ix.differing(ctx, odd)
	if err != nil {
		return Fingerprint{}, err
	}
	w := walker{root: r.Top(), exclude: exclude, entries: map[string]string{}}
	for _, name := range names {
		if err := w.add(ctx, name); err != nil {
			return Fingerprint{}, err
		}
	}
	own := walker{root: r.common, entries: map[string]string{}}
	for _, name := range []string{"config", "config.worktree", "hooks", "info"} {
		if err := own.add(ctx, name); err != nil {
			return Fingerprint{}, err
		}
	}
	for name, state := range own.entries {
		w.entries[".git/"+name] = state
	}
	return Fingerprint{Head: head, Entries: w.entries, Partial: w.partial}, nil
}

// differing lists what is not as in HEAD, or what the index, with these entries, forbids
// to look at.
func (ix *index) differing(ctx context.Context, odd []entry) ([]string, error) {
	status, err := ix.run(ctx, nil, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range odd {
		if e.assumed {
			names = append(names, e.path)
		}
	}
	for _, entry := range fields(status) {
		if len(entry) > 3 {
			names = append(names, strings.TrimSuffix(entry[3:], "/"))
		}
	}
	return names, nil
}

// FolderFingerprint records every file of a folder that is no repository, by
// size, time and mode. Paths below one of exclude (slashes, relative) are left out.
func FolderFingerprint(ctx context.Context, root string, exclude ...string) (Fingerprint, error) {
	w := walker{root: root, exclude: exclude, entries: map[string]string{}, byTime: true}
	if err := w.add(ctx, "."); err != nil {
		return Fingerprint{}, err
	}
	return Fingerprint{Entries: w.entries, Partial: w.partial}, nil
}

// walker collects the state of files below root.
type walker struct {
	root    string
	exclude []string
	entries map[string]string
	byTime  bool // never read content
	partial bool
}

// add records a file, or all files below a folder. What is not there is recorded
// as absent.
func (w *walker) add(ctx context.Context, name string) error {
	full := filepath.Join(w.root, filepath.FromSlash(name))
	return filepath.WalkDir(full, func(p string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(w.root, p)
		if relErr != nil {
			return relErr
		}
		rel = filepath.ToSlash(rel)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case w.excluded(rel):
			return skip(d)
		case len(w.entries) >= walkLimit:
			w.partial = true
			return fs.SkipAll
		case err != nil:
			w.entries[rel] = unreadable(err)
			return skip(d)
		case d.IsDir():
			return nil
		}
		w.entries[rel] = w.state(p, d)
		return nil
	})
}

// skip leaves a folder out; a file needs nothing.
func skip(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func (w *walker) excluded(rel string) bool {
	for _, e := range w.exclude {
		e = path.Clean(e)
		if rel == e || strings.HasPrefix(rel, e+"/") {
			return true
		}
	}
	return false
}

// state describes one file so that two states are equal only if the file is.
func (w *walker) state(p string, d fs.DirEntry) string {
	info, err := d.Info()
	if err != nil {
		return unreadable(err)
	}
	mode := info.Mode()
	switch {
	case mode&fs.ModeSymlink != 0:
		to, err := os.Readlink(p)
		if err != nil {
			return unreadable(err)
		}
		return "link " + to
	case !mode.IsRegular():
		return "special " + mode.String()
	case w.byTime || info.Size() > hashLimit:
		return fmt.Sprintf("%s %d bytes at %d", mode, info.Size(), info.ModTime().UnixNano())
	}
	sum, err := fileDigest(p)
	if err != nil {
		return unreadable(err)
	}
	return mode.String() + " " + sum
}

// unreadable is the state of what cannot be looked at: that, too, can change.
func unreadable(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "absent"
	}
	return "unreadable"
}

func fileDigest(p string) (sum string, err error) {
	f, err := os.Open(p)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
