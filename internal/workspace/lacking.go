package workspace

import (
	"context"
	"time"
)

// Bounds of the look for ignored files: it is only for a hint.
const (
	mostIgnored = 1 << 20
	longestLook = 5 * time.Second
)

// IgnoredFiles lists what of the checkout git ignores at or below a folder (slashes,
// from the top), so that no worktree has it: paths from the top, a folder that is ignored
// as a whole once, with a slash at its end. Of very many some are left out, and of a
// checkout that takes long to walk all.
func (r *Repo) IgnoredFiles(ctx context.Context, below string) ([]string, error) {
	look, stop := context.WithTimeout(ctx, longestLook)
	defer stop()
	args := []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--no-empty-directory"}
	if below != "." { // with a path that is the top git says nothing
		args = append(args, "--", ":(top,literal)"+below)
	}
	out := &bounded{left: mostIgnored}
	_, err := r.git.do(look, call{out: out, args: args})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case look.Err() != nil:
		return nil, nil
	case err != nil && !out.over:
		return nil, err
	}
	names := fields(out.buf.Bytes())
	if out.over && len(names) > 0 {
		names = names[:len(names)-1] // cut off in the middle, perhaps
	}
	return names, nil
}
