package engine

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"

	"orchestrate/internal/ledger"
	"orchestrate/internal/secret"
	"orchestrate/internal/secret/detect"
)

// artifacts opens the folder in which a job leaves what it makes, as a root that
// nothing leads out of. Whatever else the job put in its place is taken away.
func (r *run) artifacts(a *attempt) (*os.Root, error) {
	rel := ledger.JobPath(a.job.ID, ledger.ArtifactsDir)
	root, err := r.led.OpenDir(rel)
	switch {
	case errors.Is(err, ledger.ErrNotFolder):
		r.tell(fmt.Sprintf("job %s put something else in the place of its artifacts folder; it was not followed and is removed", a.job.ID))
		err = r.led.Remove(rel)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	default:
		return root, err
	}
	if err = errors.Join(err, r.led.MkdirAll(rel)); err != nil {
		return nil, err
	}
	return r.led.OpenDir(rel)
}

// scrubArtifacts takes secrets out of a job's artifacts folder, which is a part of the
// run directory: out of content, names, and where links lead. A redacted copy stays.
// What was found is held against the attempt. Links are not followed.
func (r *run) scrubArtifacts(a *attempt) error {
	root, err := r.artifacts(a)
	if err == nil {
		err = errors.Join((&scrubber{run: r, attempt: a, root: root}).folder("."), root.Close())
	}
	if err != nil {
		return fmt.Errorf("the artifacts of job %s could not be searched for secrets: %w", a.job.ID, err)
	}
	return nil
}

// scrubber works through one artifacts folder.
type scrubber struct {
	run     *run
	attempt *attempt
	root    *os.Root
}

func (s *scrubber) folder(dir string) error {
	entries, err := s.list(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, err := s.rename(dir, e.Name())
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			err = s.folder(name)
		case e.Type()&fs.ModeSymlink != 0:
			err = s.link(name)
		case e.Type().IsRegular():
			err = s.file(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// list reads a folder, one that was made unreadable too.
func (s *scrubber) list(dir string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(s.root.FS(), dir)
	if errors.Is(err, fs.ErrPermission) && s.root.Chmod(dir, 0o700) == nil {
		entries, err = fs.ReadDir(s.root.FS(), dir)
	}
	return entries, err
}

// hold records what was found, before it is taken away: an engine that comes after a
// crash finds it no more. What may be no secret is only told.
func (s *scrubber) hold(found []secret.Match, where string) error {
	var recs []ledger.Record
	for _, m := range found {
		text := fmt.Sprintf("%s in %s (fingerprint %s)", m.Rule, where, m.Fingerprint)
		if !m.Certain {
			s.run.tell(fmt.Sprintf("job %s: what looks like a secret was redacted: %s", s.attempt.job.ID, text))
			continue
		}
		if !slices.Contains(s.attempt.injected, text) {
			s.attempt.injected = append(s.attempt.injected, text)
			recs = append(recs, ledger.LeftSecret(s.attempt.job.ID, s.attempt.n, text))
		}
	}
	return s.run.led.Append(recs...)
}

// rename gives an entry of dir a name without secrets, one that is free.
func (s *scrubber) rename(dir, from string) (string, error) {
	old := path.Join(dir, from)
	found := s.run.redact.Matches(from)
	if len(found) == 0 {
		return old, nil
	}
	name := s.free(path.Join(dir, s.run.redact.String(from)))
	if err := s.hold(found, "the name of artifacts/"+name); err != nil {
		return "", err
	}
	return name, s.root.Rename(old, name)
}

// free is a name that is not taken, with a number behind it where that is needed.
func (s *scrubber) free(want string) string {
	name := want
	for n := 2; ; n++ {
		if _, err := s.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
		name = want + "." + strconv.Itoa(n)
	}
}

func (s *scrubber) link(name string) error {
	target, err := s.root.Readlink(name)
	if err != nil {
		return err
	}
	found := s.run.redact.Matches(target)
	if len(found) == 0 {
		return nil
	}
	if err := s.hold(found, "where artifacts/"+name+" led"); err != nil {
		return err
	}
	return s.root.Remove(name)
}

// file replaces a file that holds a secret. The file itself may have another name
// elsewhere and is not written to.
func (s *scrubber) file(name string) (err error) {
	src, err := s.root.Open(name)
	if errors.Is(err, fs.ErrPermission) && s.root.Chmod(name, 0o600) == nil {
		src, err = s.root.Open(name)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	found, copyTo, err := s.search(name, src, info.Size())
	if err != nil || len(found) == 0 {
		return err
	}
	if err := s.hold(found, "artifacts/"+name); err != nil {
		return err
	}
	return s.replace(name, info.Mode(), copyTo)
}

// maxUnpacked is how much of what an artifact unpacks to is searched, in bytes.
const maxUnpacked = 256 << 20

// search finds the secrets of a file, and says how a copy without them is made. In
// what is not text only what is no secret by chance counts; it is looked for also in
// UTF-16 and in what a zip or gzip file holds.
func (s *scrubber) search(name string, src *os.File, size int64) (found []secret.Match, copyTo func(io.Writer) error, err error) {
	whole := func() io.Reader { return io.NewSectionReader(src, 0, size) }
	binary, text := kindOf(src)
	if !binary {
		found, err = s.run.redact.Search(whole())
		return found, func(w io.Writer) error { return s.run.redact.Copy(w, whole()) }, err
	}
	exact := s.run.redact.OnlyExact()
	copyTo = func(w io.Writer) error { return exact.Copy(w, whole()) }
	if found, err = exact.Search(whole()); err != nil {
		return nil, nil, err
	}
	hidden, err := s.hidden(name, src, size, text)
	hidden = slices.DeleteFunc(hidden, func(m secret.Match) bool { return slices.Contains(found, m) })
	if len(hidden) > 0 {
		copyTo = func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s a file of %d bytes that held a secret\n", secret.Mark, size)
			return err
		}
	}
	return append(found, hidden...), copyTo, err
}

// hidden finds what cannot be taken out of a file without spoiling it.
func (s *scrubber) hidden(name string, src *os.File, size int64, text bool) (found []secret.Match, err error) {
	look := func(r io.Reader, text bool) error {
		more, err := s.run.redact.Search(r)
		for _, m := range more {
			if !slices.Contains(found, m) && m.Certain && (text || secret.Unmistakable(m.Rule)) {
				found = append(found, m)
			}
		}
		return err
	}
	for _, r := range []io.Reader{io.NewSectionReader(src, 0, size), narrow{io.NewSectionReader(src, 0, size)}} {
		if err := look(r, text); err != nil {
			return nil, err
		}
	}
	err = detect.Unpack(src, size, maxUnpacked, func(r io.Reader) error {
		in := bufio.NewReaderSize(r, headBytes)
		head, _ := in.Peek(headBytes) // what cannot be read is an error when it is searched
		return look(in, isText(head))
	})
	if errors.Is(err, detect.ErrTooMuch) {
		s.run.tell(fmt.Sprintf("job %s: what artifacts/%s unpacks to was searched for secrets up to %d MiB", s.attempt.job.ID, name, maxUnpacked>>20))
		err = nil
	}
	return found, err
}

// kindOf tells what is not to be changed byte by byte: binary by git's test, a zero byte
// near the beginning, or packed, however short. It may be text all the same, in UTF-16
// or with zero bytes between: then it has no other control characters.
func kindOf(src io.ReaderAt) (binary, text bool) {
	head := make([]byte, headBytes)
	n, _ := src.ReadAt(head, 0) // what cannot be read is an error when it is searched
	head = head[:n]
	packed := bytes.HasPrefix(head, []byte{0x1f, 0x8b}) || bytes.HasPrefix(head, []byte("PK\x03\x04"))
	binary = packed || bytes.IndexByte(head, 0) >= 0
	return binary, !packed && isText(head)
}

// headBytes is how much of a file tells what it is.
const headBytes = 8000

func isText(head []byte) bool {
	return !bytes.ContainsFunc(head, func(c rune) bool { return c < ' ' && c > 0 && (c < '\b' || c > '\r') && c != 0x1b })
}

// narrow leaves out zero bytes: UTF-16 becomes text.
type narrow struct{ r io.Reader }

func (n narrow) Read(p []byte) (int, error) {
	for {
		k, err := n.r.Read(p)
		if got := len(slices.DeleteFunc(p[:k], func(c byte) bool { return c == 0 })); got > 0 || err != nil {
			return got, err
		}
	}
}

func (s *scrubber) replace(name string, mode fs.FileMode, copyTo func(io.Writer) error) error {
	temp := s.free(path.Join(path.Dir(name), ".redacted"))
	dst, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm()|0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(copyTo(dst), dst.Close()); err != nil {
		return errors.Join(err, s.root.Remove(temp))
	}
	return s.root.Rename(temp, name)
}
