// Package secrettest searches a directory for secrets that should not be there.
// It is for tests: it looks into JSON strings, base64 and gzip, also one within
// the other, and is thorough rather than fast.
package secrettest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// depth is how many encodings are undone one after the other.
const depth = 2

// maxUnpacked bounds what one gzip member is unpacked to, in bytes.
const maxUnpacked = 64 << 20

// Hit is a place where a value was found.
type Hit struct {
	Path  string // of the file
	Value string
	Via   string // the encodings, outermost first: "", "base64", "json, gzip"; "name" if the path itself holds it
}

// Find returns every value that any regular file under root holds, and how. A
// file that cannot be read is an error: it might hold one.
func Find(root string, values []string) ([]Hit, error) {
	var hits []Hit
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, v := range values {
			if strings.Contains(rel, v) {
				hits = append(hits, Hit{path, v, "name"})
			}
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		hits = append(hits, InText(path, data, values)...)
		return nil
	})
	if err != nil {
		return hits, fmt.Errorf("search %s: %w", root, err)
	}
	return hits, nil
}

// InText is Find for one text; path is only put into the hits.
func InText(path string, data []byte, values []string) []Hit {
	s := search{path: path, values: values, seen: map[Hit]bool{}}
	s.in(data, nil)
	return s.hits
}

type search struct {
	path   string
	values []string
	hits   []Hit
	seen   map[Hit]bool
}

func (s *search) in(data []byte, via []string) {
	for _, v := range s.values {
		h := Hit{s.path, v, strings.Join(via, ", ")}
		if bytes.Contains(data, []byte(v)) && !s.seen[h] {
			s.seen[h] = true
			s.hits = append(s.hits, h)
		}
	}
	if len(via) == depth {
		return
	}
	for _, layer := range []struct {
		name   string
		decode func([]byte) [][]byte
	}{{"json", jsonStrings}, {"base64", base64Runs}, {"gzip", gzipMembers}} {
		for _, inner := range layer.decode(data) {
			s.in(inner, append(slices.Clone(via), layer.name))
		}
	}
}

var jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// jsonStrings returns the JSON strings in data that have escapes, without them,
// wherever they stand.
func jsonStrings(data []byte) [][]byte {
	var out [][]byte
	for _, quoted := range jsonString.FindAll(data, -1) {
		var text string
		if bytes.IndexByte(quoted, '\\') >= 0 && json.Unmarshal(quoted, &text) == nil {
			out = append(out, []byte(text))
		}
	}
	return out
}

var base64Run = regexp.MustCompile(`[A-Za-z0-9+/_-]{8,}(?:(?:\r?\n|\\r|\\n)+[A-Za-z0-9+/_-]+)*`)

var lineBreaks = strings.NewReplacer("\r", "", "\n", "", `\r`, "", `\n`, "", "-", "+", "_", "/")

// base64Runs returns what the stretches of base64 in data hold. A stretch may be
// broken over lines, and start anywhere in its text.
func base64Runs(data []byte) [][]byte {
	var out [][]byte
	for _, found := range base64Run.FindAll(data, -1) {
		run := lineBreaks.Replace(string(found))
		for k := range 4 {
			text := run[k:]
			if len(text)%4 == 1 {
				text = text[:len(text)-1]
			}
			if plain, err := base64.RawStdEncoding.DecodeString(text); err == nil {
				out = append(out, plain)
			}
		}
	}
	return out
}

var gzipMagic = []byte{0x1f, 0x8b, 8}

// gzipMembers unpacks what starts with gzip's magic bytes, as far as it is whole.
func gzipMembers(data []byte) [][]byte {
	var out [][]byte
	for at := 0; ; at++ {
		k := bytes.Index(data[at:], gzipMagic)
		if k < 0 {
			return out
		}
		at += k
		r, err := gzip.NewReader(bytes.NewReader(data[at:]))
		if err != nil {
			continue
		}
		plain, err := io.ReadAll(io.LimitReader(r, maxUnpacked))
		if err == nil || len(plain) > 0 { // a damaged end does not hide the beginning
			out = append(out, plain)
		}
	}
}
