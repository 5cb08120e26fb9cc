package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"orchestrate/internal/ledger"
)

// left opens the folder in the call that the task left files in, nil where there is none.
// What lies in its place is not followed: what it leads to is not the task's.
func (t Task) left() (*os.Root, error) {
	source := filepath.Join(t.jobDir(), ledger.ArtifactsDir)
	info, err := os.Lstat(source)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.IsDir() || !t.settled()) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(source)
}

// eachLeft opens every plain file that the task left, links not followed, by its path with
// slashes. What its program made unreadable stays in the call, and is passed over here: it
// must keep nobody from the rest.
func (t Task) eachLeft(visit func(name string, f *os.File) error) error {
	from, err := t.left()
	if from == nil || err != nil {
		return err
	}
	err = fs.WalkDir(from.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := from.Open(filepath.FromSlash(name))
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if err != nil {
			return err
		}
		return errors.Join(visit(name, f), f.Close())
	})
	return errors.Join(err, from.Close())
}

// layArtifacts copies what the task left. Where that is nothing, no folder is made.
func (t Task) layArtifacts(dir *os.Root) error {
	if err := dir.RemoveAll(ledger.ArtifactsDir); err != nil {
		return err
	}
	return t.eachLeft(func(name string, f *os.File) error {
		target := filepath.Join(ledger.ArtifactsDir, filepath.FromSlash(name))
		if err := dir.MkdirAll(filepath.Dir(target), dirMode); err != nil {
			return err
		}
		return writeFrom(dir, target, func(w io.Writer) error {
			_, err := io.Copy(w, f)
			return err
		})
	})
}

// find adds to the status what the task left without being told to.
func (t *Task) find() error {
	known := map[string]bool{}
	for _, a := range t.Status.Artifacts {
		known[a.Path] = true
	}
	return t.eachLeft(func(name string, f *os.File) error {
		path := ledger.ArtifactsDir + "/" + name
		if known[path] {
			return nil
		}
		h := sha256.New()
		n, err := io.Copy(h, f)
		t.Status.Artifacts = append(t.Status.Artifacts, Artifact{Path: path, SHA256: hex.EncodeToString(h.Sum(nil)), Bytes: n})
		return err
	})
}
