package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"

	"orchestrate/internal/ledger"
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

// scrubArtifacts redacts what a job left in its artifacts folder, which is a part
// of the run directory: content, names, and where links lead. Links are not
// followed.
func (r *run) scrubArtifacts(a *attempt) error {
	root, err := r.artifacts(a)
	if err == nil {
		err = errors.Join((&scrubber{r, a.job.ID, root}).folder("."), root.Close())
	}
	if err != nil {
		return fmt.Errorf("the artifacts of job %s could not be searched for secrets: %w", a.job.ID, err)
	}
	return nil
}

// scrubber works through one artifacts folder.
type scrubber struct {
	run  *run
	job  string
	root *os.Root
}

func (s *scrubber) folder(dir string) error {
	entries, err := s.list(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if clean := s.run.redact.String(e.Name()); clean != e.Name() {
			if name, err = s.rename(dir, e.Name(), clean); err != nil {
				return err
			}
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

// rename gives an entry of dir a name without the secret, one that is free.
func (s *scrubber) rename(dir, from, to string) (string, error) {
	name := s.free(path.Join(dir, to))
	s.run.tell(fmt.Sprintf("job %s: a secret in the name of an artifact was redacted: artifacts/%s", s.job, name))
	return name, s.root.Rename(path.Join(dir, from), name)
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
	if err != nil || s.run.redact.String(target) == target {
		return err
	}
	s.run.tell(fmt.Sprintf("job %s: artifacts/%s led to a name with a secret and was removed", s.job, name))
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
	found, err := s.run.redact.Copy(nil, src)
	if err != nil || found == 0 {
		return err
	}
	if err := s.replace(name, src); err != nil {
		return err
	}
	s.run.tell(fmt.Sprintf("job %s: a secret in artifacts/%s was redacted", s.job, name))
	return nil
}

func (s *scrubber) replace(name string, src *os.File) error {
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if _, err := src.Seek(0, 0); err != nil {
		return err
	}
	temp := s.free(path.Join(path.Dir(name), ".redacted"))
	dst, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = s.run.redact.Copy(dst, src)
	if err = errors.Join(err, dst.Close()); err != nil {
		return errors.Join(err, s.root.Remove(temp))
	}
	return s.root.Rename(temp, name)
}
