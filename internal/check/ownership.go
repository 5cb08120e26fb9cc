package check

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Ownership lists the changed paths that a writer does not own. Patterns are
// relative to cwd, which like the changed paths is relative to the top of the
// tree, with slashes ("." = the top). No pattern means the whole cwd. A pattern
// that ends in a plain name also owns what is below a folder of that name.
func Ownership(owned []string, cwd string, changed []string) []string {
	var outside []string
	for _, name := range changed {
		rel, ok := below(cwd, name)
		if !ok || (len(owned) > 0 && !owns(owned, rel)) {
			outside = append(outside, name)
		}
	}
	return outside
}

// below makes name relative to dir; ok is false when it is elsewhere.
func below(dir, name string) (rel string, ok bool) {
	dir = path.Clean(dir)
	if dir == "." {
		return name, true
	}
	return strings.CutPrefix(name, dir+"/")
}

func owns(owned []string, name string) bool {
	return slices.ContainsFunc(owned, func(glob string) bool {
		glob = path.Clean(glob)
		if glob == "." {
			return true
		}
		if match(glob, name) {
			return true
		}
		return !strings.ContainsAny(path.Base(glob), `*?[{\`) && match(glob+"/**", name)
	})
}

// match takes a pattern that is not well formed to match nothing: what cannot be
// understood grants nothing.
func match(glob, name string) bool {
	ok, err := doublestar.Match(glob, name)
	return err == nil && ok
}
