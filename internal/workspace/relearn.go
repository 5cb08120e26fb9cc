package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Relearn finishes a move that was cut off, or finds that it did not begin: done says
// which. It touches only files that are as they were before the move or as it makes
// them; why says which are not, and what a person can do about that. Then the move
// stays as it is.
func (r *Repo) Relearn(ctx context.Context, m Move, lock *os.File) (done bool, why []string, err error) {
	ctx = context.WithoutCancel(ctx)
	tip, err := r.tipOf(ctx, m.Ref)
	if err != nil {
		return false, nil, err
	}
	arrived := false
	if tip != "" {
		if arrived, err = r.Reaches(ctx, tip, m.To); err != nil {
			return false, nil, err
		}
	}
	ref, _, err := r.Head(ctx)
	if err != nil {
		return false, nil, err
	}
	if m.New || ref != m.Ref || tip != m.From && tip != m.To {
		return arrived, nil, r.dropLanding() // made or not; or a person has gone on from there
	}
	leave, err := r.holdIndex(m)
	if err != nil {
		return false, nil, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if begun, err := r.begun(ctx, m); err != nil || !begun && !arrived {
		return false, nil, err
	}
	stray, err := r.settleFiles(ctx, m, m.To, lock)
	if err != nil || len(stray) > 0 {
		if err == nil {
			why, err = r.strayed(ctx, m, stray)
		}
		return arrived, why, err
	}
	if !arrived {
		err = r.moveRef(ctx, m)
	}
	return err == nil, nil, err
}

// strayed says which files are in the way, and what lets the move be finished: what was
// there before it can be put back, what is new in it cannot.
func (r *Repo) strayed(ctx context.Context, m Move, files []string) (why []string, err error) {
	files = slices.Compact(slices.Sorted(slices.Values(files)))
	was := map[string]bool{}
	for _, name := range files {
		was[name] = false
	}
	err = r.FilesAt(ctx, m.From, func(name string) {
		if _, asked := was[name]; asked {
			was[name] = true
		}
	})
	old := slices.DeleteFunc(slices.Clone(files), func(name string) bool { return !was[name] })
	made := slices.DeleteFunc(slices.Clone(files), func(name string) bool { return was[name] })
	text := fmt.Sprintf("the checkout was being moved from commit %.12s to %.12s when that was cut off, and these files are like neither: %s; nothing of them was touched; "+
		"keep what you need of them elsewhere", m.From, m.To, few(files))
	if len(old) > 0 {
		text += fmt.Sprintf("; put back, by git checkout %.12s -- FILE: %s", m.From, few(old))
	}
	if len(made) > 0 {
		text += fmt.Sprintf("; move away, and then git reset -q %.12s -- FILE: %s", m.From, few(made))
	}
	return []string{text + "; then try again"}, err
}

func (r *Repo) dropLanding() error {
	at := filepath.Join(r.git.gitDir, landingIndex)
	return errors.Join(removeIfThere(at), removeIfThere(at+".lock"))
}

// tipOf is the commit of a ref, "" when there is none.
func (r *Repo) tipOf(ctx context.Context, ref string) (string, error) {
	out, err := r.git.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if code(err) == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// begun says whether files may have been moved: the landing index is there, or one of them
// is as only the move makes it.
func (r *Repo) begun(ctx context.Context, m Move) (bool, error) {
	if _, err := os.Lstat(filepath.Join(r.git.gitDir, landingIndex)); err == nil {
		return true, nil
	}
	files, err := r.touched(ctx, m)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(files, func(f touched) bool { return f.is[1] && !f.is[0] }), nil
}

// settleFiles brings the files that the move is about, and the index, to one of its two
// commits. Files that are like neither, or lie where one belongs, are named, and then
// nothing is changed.
func (r *Repo) settleFiles(ctx context.Context, m Move, to string, lock *os.File) (stray []string, err error) {
	files, err := r.touched(ctx, m)
	if err != nil {
		return nil, err
	}
	side := 0
	if to == m.To {
		side = 1
	}
	for _, f := range files {
		if !f.is[0] && !f.is[1] {
			stray = append(stray, f.path)
		}
	}
	blocked, err := r.occupants(files, side)
	if err != nil {
		return nil, err
	}
	stray = append(stray, blocked...)
	staged, err := r.staged(ctx, m)
	if err != nil || len(stray)+len(staged) > 0 {
		return append(stray, staged...), err
	}
	for _, f := range files {
		if f.mode[side] == noMode && !f.is[side] {
			if err := r.removeFile(f.path); err != nil {
				return nil, err
			}
		}
	}
	return nil, r.writeFiles(ctx, files, side, to, lock)
}

// occupants are what lies where files are going to be written that the other side does
// not have: git would remove it, folders with all that is in them, without a word.
func (r *Repo) occupants(files []touched, side int) (names []string, err error) {
	gone := map[string]bool{}
	for _, f := range files {
		if f.mode[side] == noMode {
			gone[f.path] = true
		}
	}
	for _, f := range files {
		if f.is[side] || !f.is[1-side] || f.mode[1-side] != noMode || f.mode[side] == SubmoduleMode {
			continue
		}
		at, err := r.occupied(f.path, gone)
		if err != nil {
			return nil, err
		}
		names = append(names, at...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// writeFiles writes the files of one side that are not there, and its index.
func (r *Repo) writeFiles(ctx context.Context, files []touched, side int, to string, lock *os.File) error {
	g, ix, err := r.landing(ctx)
	if err != nil {
		return err
	}
	if _, err := g.do(ctx, call{args: []string{"read-tree", "-i", "-m", to}, env: ix, lock: lock}); err != nil {
		return err
	}
	var list strings.Builder
	for _, f := range files {
		if f.mode[side] != noMode && f.mode[side] != SubmoduleMode && !f.is[side] {
			list.WriteString(f.path + "\x00")
		}
	}
	if list.Len() > 0 {
		if _, err := g.do(ctx, call{args: []string{"checkout-index", "-f", "-u", "-z", "--stdin"}, stdin: strings.NewReader(list.String()), env: ix, lock: lock}); err != nil {
			return err
		}
	}
	if _, err := g.do(ctx, call{args: []string{"update-index", "-q", "--refresh"}, env: ix}); err != nil && code(err) != 1 { // 1 = others differ
		return err
	}
	return r.placeIndex()
}

// removeFile removes a file of the checkout, and the folders that this leaves empty.
func (r *Repo) removeFile(name string) error {
	if err := removeIfThere(filepath.Join(r.Top(), filepath.FromSlash(name))); err != nil {
		return err
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if os.Remove(filepath.Join(r.Top(), filepath.FromSlash(dir))) != nil {
			break // not empty
		}
	}
	return nil
}

// staged are the files whose state in the index is that of neither commit.
func (r *Repo) staged(ctx context.Context, m Move) ([]string, error) {
	var nearest []string
	for _, commit := range []string{m.From, m.To} {
		out, err := r.git.run(ctx, "diff-index", "--cached", "--name-only", "-z", "--no-ext-diff", commit)
		if err != nil {
			return nil, err
		}
		names := fields(out)
		if len(names) == 0 {
			return nil, nil
		}
		if nearest == nil || len(names) < len(nearest) {
			nearest = names
		}
	}
	return nearest, nil
}

// SubmoduleMode is git's mode of a submodule, of which it keeps a commit.
const SubmoduleMode = "160000"

// noMode is that of a file which is not there.
const noMode = "000000"

// touched is a file that a move is about. Index 0 is before it, 1 after.
type touched struct {
	path string
	mode [2]string
	blob [2]string
	is   [2]bool // the file in the checkout is like that
}

// touched are the files that a move is about, as they are now.
func (r *Repo) touched(ctx context.Context, m Move) ([]touched, error) {
	out, err := r.git.run(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", "--end-of-options", m.From, m.To)
	if err != nil {
		return nil, err
	}
	parts := fields(out)
	var files []touched
	for i := 0; i+1 < len(parts); i += 2 {
		meta := strings.Fields(strings.TrimPrefix(parts[i], ":"))
		if len(meta) != 5 {
			return nil, fmt.Errorf("git diff-tree: %q is not a raw diff line", parts[i])
		}
		files = append(files, touched{path: parts[i+1], mode: [2]string{meta[0], meta[1]}, blob: [2]string{meta[2], meta[3]}})
	}
	for side := range 2 {
		if err := r.look(ctx, files, side); err != nil {
			return nil, err
		}
	}
	return files, r.lookSparse(ctx, files)
}

// lookSparse takes files that a sparse checkout leaves out as they are on either side.
func (r *Repo) lookSparse(ctx context.Context, files []touched) error {
	out, err := r.git.run(ctx, "ls-files", "-t", "-z")
	if err != nil {
		return err
	}
	left := map[string]bool{}
	for _, line := range fields(out) {
		if name, ok := strings.CutPrefix(line, "S "); ok {
			left[name] = true
		}
	}
	for i, f := range files {
		if left[f.path] && r.missing(f.path) {
			files[i].is = [2]bool{true, true}
		}
	}
	return nil
}

// look finds which files are as on one side of the move: by an index that has only these.
func (r *Repo) look(ctx context.Context, files []touched, side int) (err error) {
	g, err := r.git.inert(ctx)
	if err != nil {
		return err
	}
	ix, err := newIndex(g, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ix.remove()) }()
	var list strings.Builder
	for _, f := range files {
		if f.mode[side] != noMode && f.mode[side] != SubmoduleMode {
			fmt.Fprintf(&list, "%s %s\t%s\x00", f.mode[side], f.blob[side], f.path)
		}
	}
	if _, err := ix.run(ctx, strings.NewReader(list.String()), "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	if _, err := ix.run(ctx, nil, "update-index", "-q", "--refresh"); err != nil && code(err) != 1 {
		return err
	}
	out, err := ix.run(ctx, nil, "diff-files", "--name-only", "-z", "--no-ext-diff")
	if err != nil {
		return err
	}
	differs := fields(out)
	for i, f := range files {
		files[i].is[side] = f.mode[side] == SubmoduleMode || r.missing(f.path)
		if f.mode[side] != noMode && f.mode[side] != SubmoduleMode {
			files[i].is[side] = !slices.Contains(differs, f.path)
		}
	}
	return nil
}

// missing says that no file is there; a folder is none.
func (r *Repo) missing(name string) bool {
	info, err := os.Lstat(filepath.Join(r.Top(), filepath.FromSlash(name)))
	return absent(err) || err == nil && info.IsDir()
}
