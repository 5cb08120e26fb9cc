package check

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"orchestrate/internal/spec"
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

// judges are the usual places of tests and of what runs them.
func judges() []string {
	return []string{
		"**/*_test.*", "**/test_*.*", "**/*.test.*", "**/*.spec.*", "**/*Test.*", "**/*Tests.*", "**/*_spec.*", "**/conftest.py",
		"**/{test,tests,__tests__,testdata,e2e}/**",
		".github/**", ".gitlab-ci*", ".gitlab/**", ".circleci/**", ".buildkite/**", ".ci/**", ".travis.yml", "azure-pipelines*", "**/Jenkinsfile",
		"**/Makefile", "**/GNUmakefile", "**/*.mk", "**/Taskfile*", "**/justfile", "**/noxfile.py", "**/tox.ini", "**/pytest.ini",
		"**/package.json", "**/pyproject.toml", "**/setup.cfg", "**/.pre-commit-config.yaml", "**/.golangci.*", "**/jest.config.*", "**/vitest.config.*",
	}
}

// JudgesChanged lists the changed paths that judge the work: tests, what runs
// them, and files that a check of the job names. A worker may have a good reason
// to change one; the arbiter is told. Paths and cwd are as in Ownership.
func JudgesChanged(changed []string, checks []spec.Check, cwd string) []string {
	named := namedFiles(checks, cwd)
	usual := judges()
	var hits []string
	for _, name := range changed {
		known := slices.ContainsFunc(usual, func(glob string) bool { return match(glob, name) })
		if known || named[name] {
			hits = append(hits, name)
		}
	}
	return hits
}

// namedFiles are the words of the checks' commands, read as paths from the top.
func namedFiles(checks []spec.Check, cwd string) map[string]bool {
	names := map[string]bool{}
	for _, c := range checks {
		words := c.Run
		if c.Shell != "" {
			words = strings.FieldsFunc(c.Shell, func(r rune) bool { return strings.ContainsRune(" \t\n\"';&|<>()`$=", r) })
		}
		for _, w := range words {
			names[path.Join(cwd, w)] = true
		}
	}
	return names
}
