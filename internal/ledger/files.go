package ledger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"orchestrate/internal/failpoint"
	"orchestrate/internal/untrusted"
)

// Files are for their owner's eyes only.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// WriteText puts text from outside into a file, as it is.
func (r *Run) WriteText(rel string, t untrusted.Text) error {
	return r.WriteFile(rel, []byte(t.Unshown()))
}

// WriteFile puts a file in the run directory, with the folders that it needs. A
// reader sees the old content or the new, never part of one. It survives the death
// of this process, but not surely a power loss: what must is in the journal.
func (r *Run) WriteFile(rel string, data []byte) error {
	if r.lock == nil {
		return ErrReadOnly
	}
	return r.replace(rel, bytesOf(r.clean(rel, data)))
}

// WriteFrom is WriteFile with the text that write writes, which is never held as a whole.
// It is not for JSON.
func (r *Run) WriteFrom(rel string, write func(io.Writer) error) error {
	if r.lock == nil {
		return ErrReadOnly
	}
	return r.replace(rel, func(w io.Writer) error { return r.through(w, write) })
}

// WriteJSONParts is WriteFile with the JSON document whose parts write hands on, which are
// never held together. No part ends within a string.
func (r *Run) WriteJSONParts(rel string, write func(hand func(part []byte) error) error) error {
	if r.lock == nil {
		return ErrReadOnly
	}
	return r.replace(rel, func(w io.Writer) error {
		to := bufio.NewWriterSize(w, partBuffer)
		err := write(func(part []byte) error {
			_, err := to.Write(r.clean(rel, part))
			return err
		})
		return errors.Join(err, to.Flush())
	})
}

// partBuffer is how many bytes of small parts go to the disk at a time.
const partBuffer = 32 << 10

func bytesOf(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// WriteSoFar puts the page of a run that has not ended into its directory, over the one
// before. Whoever reads the run may do so: no part of it depends on that file.
func (r *Run) WriteSoFar(page []byte) error {
	return r.replace(SoFarFile, bytesOf(page))
}

func (r *Run) replace(rel string, write func(io.Writer) error) error {
	name := filepath.FromSlash(rel)
	temp, err := r.writeTemp(name, write)
	if dir := filepath.Dir(name); errors.Is(err, fs.ErrNotExist) && dir != "." {
		if err = r.MkdirAll(dir); err == nil {
			temp, err = r.writeTemp(name, write)
		}
	}
	if err != nil {
		return err
	}
	if failpoint.Enabled && rel == StateFile {
		failpoint.Hit(failpoint.SnapshotBefore)
	}
	err = r.root.Rename(temp, name)
	if info, gone := r.root.Lstat(name); err != nil && gone == nil && info.IsDir() {
		// A program put a folder where a file of ours goes: it must not stop the run.
		err = errors.Join(r.root.Rename(name, temp+".found"), r.root.Rename(temp, name))
	}
	if err != nil {
		return errors.Join(err, r.root.RemoveAll(temp))
	}
	if failpoint.Enabled && rel == StateFile {
		failpoint.Hit(failpoint.SnapshotAfter)
	}
	return nil
}

func (r *Run) writeTemp(name string, write func(io.Writer) error) (temp string, err error) {
	f, temp, err := r.createTemp(name, os.O_WRONLY)
	if err != nil {
		return "", err
	}
	if err = errors.Join(write(f), f.Close()); err != nil {
		return "", errors.Join(err, r.root.Remove(temp))
	}
	return temp, nil
}

// createTemp makes a file beside name under a name that nobody uses; isTemp knows it
// again.
func (r *Run) createTemp(name string, flags int) (f *os.File, temp string, err error) {
	dir, base := filepath.Split(name)
	for {
		temp = dir + "." + base + "." + strconv.FormatInt(r.temp.Add(1), 10) + ".tmp"
		f, err = r.root.OpenFile(temp, flags|os.O_CREATE|os.O_EXCL, fileMode)
		if !errors.Is(err, fs.ErrExist) {
			return f, temp, err
		}
	}
}

// isTemp reports whether a file's name is one that createTemp gives. The supervisor's
// temporary files have others.
func isTemp(name string) bool {
	rest, ok := strings.CutSuffix(name, ".tmp")
	if !ok || !strings.HasPrefix(rest, ".") {
		return false
	}
	_, err := strconv.ParseInt(rest[strings.LastIndexByte(rest, '.')+1:], 10, 64)
	return err == nil
}

// WriteJSON is WriteFile with v as indented JSON.
func (r *Run) WriteJSON(rel string, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("%s: %w", rel, err)
	}
	return r.WriteFile(rel, buf.Bytes())
}

// MkdirAll makes a folder in the run directory, with its parents.
func (r *Run) MkdirAll(rel string) error {
	return r.root.MkdirAll(filepath.FromSlash(rel), dirMode)
}

// ReadFile reads a file of the run directory; a link that leads out of it is an
// error. A missing file is fs.ErrNotExist.
func (r *Run) ReadFile(rel string) ([]byte, error) {
	return r.root.ReadFile(filepath.FromSlash(rel))
}

// ReadJSON reads a JSON document of the run directory, as ReadFile does; there is false
// where it has none.
func (r *Run) ReadJSON(rel string, into any) (there bool, err error) {
	data, err := r.ReadFile(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", r.Path(rel), err)
	}
	return true, nil
}

// OpenDir opens a folder of the run directory as a root of its own. A symbolic link
// on the way to it, or in its place, is never followed: ErrNotFolder. A missing
// folder is fs.ErrNotExist.
func (r *Run) OpenDir(rel string) (*os.Root, error) {
	at := ""
	for part := range strings.SplitSeq(rel, "/") {
		at = filepath.Join(at, part)
		info, err := r.root.Lstat(at)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("%s: %w", r.Path(filepath.ToSlash(at)), ErrNotFolder)
		}
	}
	return r.root.OpenRoot(at)
}

// ErrNotFolder says that something else, a link perhaps, is where a folder was.
var ErrNotFolder = errors.New("it is not a folder")

// MoveAll moves what is in one folder of the run into another one, over what is there, and
// removes the first. Whatever else is in its place is removed; links are not followed.
func (r *Run) MoveAll(from, to string) error {
	if r.lock == nil {
		return ErrReadOnly
	}
	from, to = filepath.FromSlash(from), filepath.FromSlash(to)
	info, err := r.root.Lstat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return r.root.RemoveAll(from)
	}
	names, err := r.list(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		target := filepath.Join(to, name)
		if err := r.root.RemoveAll(target); err != nil {
			return err
		}
		if err := r.root.Rename(filepath.Join(from, name), target); err != nil {
			return err
		}
	}
	return r.root.RemoveAll(from)
}

// Remove takes a file, a link or a whole folder out of the run directory. Links
// are not followed.
func (r *Run) Remove(rel string) error {
	if r.lock == nil {
		return ErrReadOnly
	}
	return r.root.RemoveAll(filepath.FromSlash(rel))
}
