package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// writeWhole puts a file in its place: a reader sees the old content or the new.
func writeWhole(path string, data []byte) error {
	return writeFrom(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// writeFrom is writeWhole with what write writes, which is never held as a whole.
func writeFrom(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	err = errors.Join(f.Chmod(fileMode), write(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
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
