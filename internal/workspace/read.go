package workspace

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"
)

// ReadFileAt reads a file (slashes, relative to the top) as it is in a commit or
// tree. A path that leaves the top is an error.
func (r *Repo) ReadFileAt(ctx context.Context, commit, name string) ([]byte, error) {
	if !within(name) {
		return nil, fmt.Errorf("%q is not a path inside the repository", name)
	}
	return r.git.run(ctx, "cat-file", "blob", commit+":"+path.Clean(name))
}

// LineAt is line n, counted from 1, of a file in a commit or tree, without its
// line end; ok is false when there is no such file or line.
func (r *Repo) LineAt(ctx context.Context, commit, name string, n int) (line string, ok bool) {
	data, err := r.ReadFileAt(ctx, commit, name)
	if err != nil || n < 1 {
		return "", false
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	if n > len(lines) || len(lines[n-1]) == 0 { // after the last newline there is no line
		return "", false
	}
	return strings.TrimRight(string(lines[n-1]), "\r\n"), true
}

// Blob reads an object of the tree's repository; whole is false, and nothing is
// returned, when it has more than most bytes.
func (t *Tree) Blob(ctx context.Context, sha string, most int64) (data []byte, whole bool, err error) {
	out := &bounded{left: most}
	_, err = t.git.do(ctx, call{args: []string{"cat-file", "blob", sha}, out: out})
	if out.over {
		return nil, false, nil
	}
	return out.buf.Bytes(), true, err
}
