package workspace

import (
	"context"
	"strings"
)

// Standing says of some files what git would do with them.
type Standing struct {
	Ignored map[string]bool // they are in no patch, and in no commit
	Tracked map[string]bool // they are part of the work already
}

// Standing asks about files of the checkout, by paths (slashes) from its top.
func (r *Repo) Standing(ctx context.Context, paths []string) (Standing, error) {
	return r.git.standing(ctx, paths)
}

// Standing asks about files of the tree, by paths (slashes) from its top. They need not
// be there.
func (t *Tree) Standing(ctx context.Context, paths []string) (Standing, error) {
	return t.git.standing(ctx, paths)
}

func (g git) standing(ctx context.Context, paths []string) (s Standing, err error) {
	if len(paths) == 0 {
		return s, nil
	}
	const here = "./" // before it no name is taken for a pattern or an option
	out, err := g.do(ctx, call{
		args:  []string{"check-ignore", "-z", "--stdin"},
		stdin: strings.NewReader(here + strings.Join(paths, "\x00"+here) + "\x00"),
	})
	if err != nil && code(err) != 1 { // 1 = none
		return s, err
	}
	s.Ignored = setOf(fields(out), here)
	args := []string{"ls-files", "--cached", "-z", "--"}
	for _, p := range paths {
		if !s.Ignored[p] {
			args = append(args, p)
		}
	}
	if len(args) == 4 {
		return s, nil
	}
	out, err = g.do(ctx, call{args: args, env: []string{"GIT_LITERAL_PATHSPECS=1"}})
	s.Tracked = setOf(fields(out), "")
	return s, err
}

// setOf are the names, without what stands before each.
func setOf(names []string, before string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[strings.TrimPrefix(n, before)] = true
	}
	return set
}
