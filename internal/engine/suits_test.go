package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/spec"
	"orchestrate/internal/workspace"
)

func TestIgnoredFilesThatLookNeeded(t *testing.T) {
	ignored := []string{
		".env", "app/.env", "app/.env.local", "app/node_modules/", "app/build/", "app/lib/vendor/", "app/notes.txt", "app2/.env", "app/conf/settings.json",
	}
	for name, c := range map[string]struct {
		tree           spec.Worktree
		files, folders []string
	}{
		"nothing is given": {
			files: []string{"app/.env", "app/.env.local", "app/conf/settings.json"}, folders: []string{"app/node_modules/", "app/lib/vendor/"},
		},
		"files are copied": {
			tree:  spec.Worktree{Copy: []string{".env*", "conf/**"}},
			files: nil, folders: []string{"app/node_modules/", "app/lib/vendor/"},
		},
		"a folder is copied, another not": {
			tree:  spec.Worktree{Copy: []string{"lib/**"}},
			files: []string{"app/.env", "app/.env.local", "app/conf/settings.json"}, folders: []string{"app/node_modules/"},
		},
		"folders are set up": {
			tree:  spec.Worktree{Setup: []spec.Check{{}}},
			files: []string{"app/.env", "app/.env.local", "app/conf/settings.json"},
		},
	} {
		files, folders := lackedBy(&spec.Job{Worktree: c.tree}, "app", ignored)
		if diff := cmp.Diff(c.files, files); diff != "" {
			t.Errorf("%s: files: %s", name, diff)
		}
		if diff := cmp.Diff(c.folders, folders); diff != "" {
			t.Errorf("%s: folders: %s", name, diff)
		}
	}
}

func TestWorkThatLiesInsideASubmodule(t *testing.T) {
	subs := []workspace.Submodule{{Path: "libs/a"}, {Path: "libs/a/deep"}, {Path: "other"}}
	for name, c := range map[string]struct {
		cwd   string
		owned []string
		want  string
	}{
		"the whole repository":       {cwd: "/r"},
		"a folder beside":            {cwd: "/r", owned: []string{"libs/ab/**", "libs/*"}},
		"a folder in it":             {cwd: "/r", owned: []string{"src/**", "libs/a/src/**"}, want: "libs/a"},
		"itself":                     {cwd: "/r", owned: []string{"libs/a"}, want: "libs/a"},
		"one deeper":                 {cwd: "/r/libs", owned: []string{"a/deep/*.c"}, want: "libs/a/deep"},
		"the cwd":                    {cwd: "/r/other/x", want: "other"},
		"a pattern that may lead in": {cwd: "/r", owned: []string{"libs/*/x"}},
	} {
		p := &Plan{Root: "/r"}
		if got := p.insideSubmodule(&spec.Job{Cwd: c.cwd, OwnedPaths: c.owned}, subs); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
