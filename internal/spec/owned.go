package spec

import (
	"slices"

	"github.com/bmatcuk/doublestar/v4"
)

// OwnsCwd reports whether nothing in the job's cwd is outside its owned_paths: it names
// none, or what it names covers files that it cannot have meant by name, at any depth.
func (j *Job) OwnsCwd() bool {
	if len(j.OwnedPaths) == 0 {
		return true
	}
	for _, unmeant := range []string{"\u2063", "\u2063/\u2063", "\u2063/\u2063/\u2063"} {
		if !slices.ContainsFunc(j.OwnedPaths, func(glob string) bool {
			ok, err := doublestar.Match(glob, unmeant)
			return cleanPath(glob) == "." || ok && err == nil
		}) {
			return false
		}
	}
	return true
}
