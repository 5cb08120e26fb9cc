package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
)

// FilesAt lists the files of a commit (slashes, relative to the top) one by one.
func (r *Repo) FilesAt(ctx context.Context, commit string, each func(name string)) error {
	out := &listing{each: each}
	_, err := r.git.do(ctx, call{args: []string{"ls-tree", "-r", "-z", "--name-only", "--full-tree", commit}, out: out})
	return err
}

// listing hands on NUL-terminated names as they are written to it.
type listing struct {
	each func(string)
	part []byte
}

// Write takes the next bytes.
func (l *listing) Write(p []byte) (int, error) {
	size := len(p)
	for {
		i := bytes.IndexByte(p, 0)
		if i < 0 {
			l.part = append(l.part, p...)
			return size, nil
		}
		l.each(string(append(l.part, p[:i]...)))
		l.part, p = l.part[:0], p[i+1:]
	}
}

// generatedAttribute is how a repository declares a file to be written by a tool.
const generatedAttribute = "linguist-generated"

// GeneratedAt lists which files of a commit the repository declares to be written by a
// tool. attributes are its .gitattributes files there; only where one speaks of it are
// all files asked for.
func (r *Repo) GeneratedAt(ctx context.Context, commit string, attributes []string) (all []string, err error) {
	speaks := false
	for _, name := range attributes {
		data, err := r.ReadFileAt(ctx, commit, name)
		if err != nil {
			return nil, err
		}
		speaks = speaks || bytes.Contains(data, []byte(generatedAttribute))
	}
	if !speaks {
		return nil, nil
	}
	ix, err := newIndex(r.git, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ix.remove()) }()
	if _, err := ix.run(ctx, nil, "read-tree", commit); err != nil {
		return nil, err
	}
	listed, err := ix.run(ctx, nil, "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	out, err := ix.run(ctx, bytes.NewReader(listed), "check-attr", "--cached", "--stdin", "-z", generatedAttribute)
	if err != nil {
		return nil, err
	}
	said := fields(out) // path, the attribute, its value
	if len(said)%3 != 0 {
		return nil, fmt.Errorf("git check-attr: %d words are not an answer", len(said))
	}
	for i := 0; i < len(said); i += 3 {
		if said[i+2] == "set" || strings.EqualFold(said[i+2], "true") {
			all = append(all, said[i])
		}
	}
	return all, nil
}

// Attributes reports whether a file is one in which a repository says what its files are.
func Attributes(name string) bool { return path.Base(name) == attributesFile }
