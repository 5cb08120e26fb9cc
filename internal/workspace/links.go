package workspace

import (
	"context"
	"errors"
	"strconv"
	"strings"
)

// linkMode is git's file mode of a symbolic link.
const linkMode = "120000"

// longestLink bounds where a link leads, in bytes: no system takes a longer one.
const longestLink = 4096

// LinksAt are the symbolic links of a commit (slashes, relative to the top), each with
// where it leads, as it is written there.
func (r *Repo) LinksAt(ctx context.Context, commit string) (map[string]string, error) {
	var found []sized
	out := &listing{each: func(line string) { // as in sizes
		meta, name, _ := strings.Cut(line, "\t")
		words := strings.Fields(meta)
		if len(words) != 4 || words[0] != linkMode {
			return
		}
		if size, err := strconv.ParseInt(words[3], 10, 64); err == nil && size <= longestLink {
			found = append(found, sized{Content: Content{Path: name, Mode: linkMode, Size: size}, blob: words[2]})
		}
	}}
	_, err := r.git.do(ctx, call{args: []string{"ls-tree", "-r", "-z", "--long", "--full-tree", commit}, out: out})
	links := map[string]string{}
	return links, errors.Join(err, r.contents(ctx, found, func(c Content) error {
		links[c.Path] = string(c.Data)
		return nil
	}))
}
