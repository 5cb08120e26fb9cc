package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Wherever a filter driver may be defined, it is found and switched off.
func TestEveryFilterDriverIsSwitchedOff(t *testing.T) {
	section := "[filter \"x\"]\n\tclean = touch planted\n"
	for name, plant := range map[string]func(t *testing.T, dir string){
		"in the repository's file": func(t *testing.T, dir string) { add(t, filepath.Join(dir, ".git", "config"), section) },
		"in capitals": func(t *testing.T, dir string) {
			add(t, filepath.Join(dir, ".git", "config"), "[FILTER \"x\"]\nclean = touch planted\n")
		},
		"in the old form": func(t *testing.T, dir string) {
			add(t, filepath.Join(dir, ".git", "config"), "[filter.x]\nclean = touch planted\n")
		},
		"in a file that it includes": func(t *testing.T, dir string) {
			add(t, filepath.Join(dir, "more"), section)
			add(t, filepath.Join(dir, ".git", "config"), "[include]\n\tpath = ../more\n")
		},
		"in the worktree's own file": func(t *testing.T, dir string) {
			gitDo(t, dir, "config", "extensions.worktreeConfig", "true")
			add(t, filepath.Join(dir, ".git", "config.worktree"), section)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := newRepo(t)
			before, err := r.git.inert(t.Context())
			if err != nil || !slices.Equal(before.config, r.git.config) {
				t.Fatalf("%q, %v: there is no filter yet", before.config, err)
			}
			plant(t, dir)
			g, err := r.git.inert(t.Context())
			if err != nil || !strings.Contains(strings.Join(g.config, "\n"), "filter.x.clean=\n") {
				t.Errorf("%q, %v", g.config, err)
			}
		})
	}
}

func add(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
