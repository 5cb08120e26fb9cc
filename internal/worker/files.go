package worker

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeWhole puts a file in its place: a reader sees the old content or the new.
func writeWhole(path string, data []byte) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(writeIn(root, filepath.Base(path), data), root.Close())
}

// writeIn is writeWhole below a folder, out of which no link leads.
func writeIn(root *os.Root, name string, data []byte) error {
	return writeFrom(root, name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// writeFrom is writeIn with what write writes, which is never held as a whole.
func writeFrom(root *os.Root, name string, write func(io.Writer) error) error {
	temp := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text()[:8]+".tmp")
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	err = errors.Join(f.Chmod(fileMode), write(f), f.Close())
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// mostRead bounds what is read of a file that says whose a folder is, in bytes.
const mostRead = 64 << 20

// readPlain reads a plain file below a folder; fs.ErrNotExist also where what has its name is
// none, which could keep its reader waiting or lead elsewhere.
func readPlain(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > mostRead) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return root.ReadFile(name)
}

// enter opens a folder below another one, which is made if need be. What is there in its
// place, a link too, is refused: it is somebody else's.
func enter(root *os.Root, name string) (*os.Root, error) {
	if err := root.Mkdir(name, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	info, err := root.Lstat(name)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is in the way of a folder: move it away", name)
	}
	if err != nil {
		return nil, err
	}
	return root.OpenRoot(name)
}

func writeJSON(path string, v any) error {
	data, err := marshal(v)
	if err != nil {
		return err
	}
	return writeWhole(path, data)
}

// marshal is v as indented JSON that leaves <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(v)
	return b.Bytes(), err
}
