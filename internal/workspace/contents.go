package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// batchBytes bounds the contents that are asked for, and held, at a time.
const batchBytes = 8 << 20

// Content is one file of a commit.
type Content struct {
	Path string // slashes, relative to the top
	Mode string // git's file mode; of a symbolic link Data is where it leads, of a submodule there is none
	Size int64
	Data []byte // nil when it has more than was asked for
}

// Contents reads files of a commit (slashes, relative to the top), those of at most most
// bytes with what they hold. A name that is no file there is left out. each gets them in no
// particular order.
func (r *Repo) Contents(ctx context.Context, commit string, names []string, most int64, each func(Content) error) error {
	found, err := r.sizes(ctx, commit, names)
	if err != nil {
		return err
	}
	var batch []sized
	var held int64
	for _, f := range found {
		if f.Size > most || f.Mode == SubmoduleMode {
			if err := each(f.Content); err != nil {
				return err
			}
			continue
		}
		if held += f.Size; held > batchBytes && len(batch) > 0 {
			if err := r.contents(ctx, batch, each); err != nil {
				return err
			}
			batch, held = nil, f.Size
		}
		batch = append(batch, f)
	}
	return r.contents(ctx, batch, each)
}

// sized is a file whose content has not been read.
type sized struct {
	Content
	blob string
}

// sizes finds files in a commit. All of it is listed: there is no bound for how many names
// are wanted, as there is for what a command line holds.
func (r *Repo) sizes(ctx context.Context, commit string, names []string) (found []sized, err error) {
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	out := &listing{each: func(line string) { // "<mode> <type> <id> <size>\t<path>", the size "-" of a submodule
		meta, name, _ := strings.Cut(line, "\t")
		words := strings.Fields(meta)
		if !wanted[name] {
			return
		}
		if len(words) != 4 {
			err = errors.Join(err, fmt.Errorf("git ls-tree: %q is not a file", line))
			return
		}
		f := sized{Content: Content{Path: name, Mode: words[0]}, blob: words[2]}
		if words[3] != "-" {
			var problem error
			f.Size, problem = strconv.ParseInt(words[3], 10, 64)
			err = errors.Join(err, problem)
		}
		found = append(found, f)
	}}
	_, ran := r.git.do(ctx, call{args: []string{"ls-tree", "-r", "-z", "--long", "--full-tree", commit}, out: out})
	return found, errors.Join(ran, err)
}

// contents reads what some files hold, all in one process.
func (r *Repo) contents(ctx context.Context, files []sized, each func(Content) error) error {
	if len(files) == 0 {
		return nil
	}
	var ask bytes.Buffer
	for _, f := range files {
		ask.WriteString(f.blob + "\n")
	}
	out, err := r.git.do(ctx, call{args: []string{"cat-file", "--batch", "--buffer"}, stdin: &ask})
	if err != nil {
		return err
	}
	said := bufio.NewReader(bytes.NewReader(out))
	for _, f := range files {
		line, err := said.ReadString('\n')
		if err != nil || line != fmt.Sprintf("%s blob %d\n", f.blob, f.Size) {
			return errors.Join(fmt.Errorf("git cat-file: %q is not the file %s", line, f.Path), err)
		}
		f.Data = make([]byte, f.Size)
		if _, err := io.ReadFull(said, f.Data); err != nil {
			return fmt.Errorf("git cat-file: %s: %w", f.Path, err)
		}
		if _, err := said.Discard(1); err != nil { // the line end behind it
			return fmt.Errorf("git cat-file: %s: %w", f.Path, err)
		}
		if err := each(f.Content); err != nil {
			return err
		}
	}
	return nil
}
