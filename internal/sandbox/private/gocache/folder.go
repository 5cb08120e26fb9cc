package gocache

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// folder is a build cache in the format in which go keeps its own: "<id>-a" says which
// output an action has, "<output>-d" is that output, both in folders by their first byte.
type folder string

// object is what a cache has for an action.
type object struct {
	output []byte
	size   int64
	made   time.Time
	path   string
	used   time.Time // when go last noted a use; it removes what was not used for 5 days
}

// idSize is that of both kinds of ids.
const idSize = 32

func (f folder) name(id []byte, kind string) string {
	s := hex.EncodeToString(id)
	return filepath.Join(string(f), s[:2], s+"-"+kind)
}

// get looks an action up; false = it is not there whole.
func (f folder) get(action []byte) (object, bool) {
	line, err := os.ReadFile(f.name(action, "a"))
	if err != nil {
		return object{}, false
	}
	o, ok := parse(line, action)
	if !ok {
		return object{}, false
	}
	o.path = f.name(o.output, "d")
	info, err := os.Stat(o.path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != o.size {
		return object{}, false
	}
	o.used = info.ModTime()
	return o, true
}

// parse reads "v1 ACTION OUTPUT SIZE TIME\n".
func parse(line, action []byte) (object, bool) {
	words := bytes.Fields(line)
	if len(words) != 5 || string(words[0]) != "v1" || string(words[1]) != hex.EncodeToString(action) {
		return object{}, false
	}
	output, err := hex.DecodeString(string(words[2]))
	if err != nil || len(output) != idSize {
		return object{}, false
	}
	size, err := strconv.ParseInt(string(words[3]), 10, 64)
	if err != nil || size < 0 {
		return object{}, false
	}
	nanos, err := strconv.ParseInt(string(words[4]), 10, 64)
	if err != nil {
		return object{}, false
	}
	return object{output: output, size: size, made: time.Unix(0, nanos)}, true
}

// put keeps an output of that many bytes for an action: first itself, then what leads to
// it, each appearing whole, since other go commands may be at work in the same folder.
func (f folder) put(action, output []byte, body io.Reader, size int64, now time.Time) (object, error) {
	o := object{output: output, size: size, made: now, path: f.name(output, "d")}
	if err := appear(o.path, body, size); err != nil {
		return object{}, err
	}
	line := fmt.Sprintf("v1 %x %x %20d %20d\n", action, output, size, now.UnixNano())
	return o, appear(f.name(action, "a"), bytes.NewReader([]byte(line)), int64(len(line)))
}

// appear makes a file of exactly that size, all at once.
func appear(path string, body io.Reader, size int64) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	n, err := io.Copy(file, body)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if n != size {
		return fmt.Errorf("%s: %d bytes of %d", path, n, size)
	}
	return os.Rename(file.Name(), path)
}
