package engine

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"orchestrate/internal/spec"
)

// A fresh worktree has nothing of what git ignores. Most of that is not missed; what is,
// mostly has one of these names.

// neededFiles are names of files with settings of a person or machine.
func neededFiles() []string {
	return []string{
		".env", ".env.*", ".envrc", "*.env", "*.local", "*.local.*", "local.*", ".npmrc", ".yarnrc*", ".netrc", ".tool-versions",
		"config.*", "settings.*", "secrets.*", "credentials.*", "appsettings.*", "application*.{yml,yaml,properties}", "*.tfvars", "docker-compose.override.*",
	}
}

// neededFolders are names of folders with what a package manager installed.
func neededFolders() []string {
	return []string{"node_modules", "bower_components", ".venv", "venv", ".virtualenv", "vendor", "Pods", "Carthage", ".bundle", "deps", "elm-stuff", ".yarn", ".pnpm-store"}
}

// lackingNote names ignored files and folders that the worktrees of some jobs seem to
// need and are not given, "" = none.
func (p *Plan) lackingNote(isolated []*spec.Job, ignored []string) string {
	var jobs, files, folders []string
	as := map[string]string{} // as the first job that lacks it would name it
	for _, j := range isolated {
		cwd := relTo(p.top(), j.Cwd)
		f, d := lackedBy(j, cwd, ignored)
		for _, name := range f {
			if as[name] == "" {
				as[name] = strings.TrimPrefix(name, cwd+"/")
			}
		}
		if len(f)+len(d) == 0 {
			continue
		}
		jobs, files, folders = append(jobs, j.ID), append(files, f...), append(folders, d...)
	}
	if len(jobs) == 0 {
		return ""
	}
	slices.Sort(files)
	slices.Sort(folders)
	files, folders = slices.Compact(files), slices.Compact(folders)
	var ways []string
	if len(files) > 0 {
		ways = append(ways, fmt.Sprintf("copy: [%q]", as[files[0]]))
	}
	if len(folders) > 0 {
		ways = append(ways, `setup: ["the command that installs them"]`)
	}
	return fmt.Sprintf("git ignores %s, so the worktrees of %s do not have it; where a job needs it, give it to the job: `worktree: {%s}`",
		someOf(append(files, folders...)), someOf(jobs), strings.Join(ways, ", "))
}

// lackedBy are the ignored files and folders that one job seems to need and is not
// given. cwd and they are told from the top of the repository.
func lackedBy(j *spec.Job, cwd string, ignored []string) (files, folders []string) {
	for _, name := range ignored {
		rel := name
		if cwd != "." {
			var ok bool
			if rel, ok = strings.CutPrefix(name, cwd+"/"); !ok {
				continue
			}
		}
		if dir, ok := strings.CutSuffix(rel, "/"); ok {
			if oneOf(neededFolders(), path.Base(dir)) && len(j.Worktree.Setup) == 0 && !oneOf(j.Worktree.Copy, dir+"/x") {
				folders = append(folders, name)
			}
			continue
		}
		if oneOf(neededFiles(), path.Base(rel)) && !oneOf(j.Worktree.Copy, rel) {
			files = append(files, name)
		}
	}
	return files, folders
}

// oneOf reports whether a name matches one of some patterns.
func oneOf(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(glob string) bool {
		ok, err := doublestar.Match(glob, name)
		return ok && err == nil
	})
}
