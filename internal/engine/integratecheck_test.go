package engine

import (
	"testing"
	"time"

	"orchestrate/internal/integrate"
	"orchestrate/internal/spec"
)

// A check that two jobs declare runs once on the result only where it would run alike.
func TestChecksThatRunAlikeRunOnce(t *testing.T) {
	one := func() (integrate.Work, *spec.Job, spec.Check) {
		return integrate.Work{Job: "one", Runtime: "claude"}, &spec.Job{ID: "one", Cwd: "/w", EnvAllow: []string{"A", "B"}},
			spec.Check{Name: "1", Run: []string{"go", "test"}, Timeout: time.Minute}
	}
	w, j, c := one()
	want := alike(w, j, c)
	for name, change := range map[string]func(*integrate.Work, *spec.Job, *spec.Check){
		"": func(w *integrate.Work, j *spec.Job, c *spec.Check) {
			w.Job, w.Runtime, j.ID, c.Name = "two", "codex", "two", "2"
		},
		" names":       func(_ *integrate.Work, j *spec.Job, _ *spec.Check) { j.EnvAllow = []string{"B", "A", "B"} },
		"item":         func(_ *integrate.Work, j *spec.Job, _ *spec.Check) { j.Item = &spec.Item{Value: []byte(`"a"`)} },
		"folder":       func(_ *integrate.Work, j *spec.Job, _ *spec.Check) { j.Cwd = "/w/sub" },
		"environment":  func(_ *integrate.Work, j *spec.Job, _ *spec.Check) { j.EnvAllow = []string{"A B"} },
		"credentialed": func(_ *integrate.Work, j *spec.Job, _ *spec.Check) { j.Credentialed = true },
		"time":         func(_ *integrate.Work, _ *spec.Job, c *spec.Check) { c.Timeout = time.Hour },
		"words":        func(_ *integrate.Work, _ *spec.Job, c *spec.Check) { c.Run = []string{"go test"} },
		"shell":        func(_ *integrate.Work, _ *spec.Job, c *spec.Check) { c.Run, c.Shell = nil, "go test" },
	} {
		w, j, c := one()
		change(&w, j, &c)
		if same := alike(w, j, c) == want; same != (name == "" || name[0] == ' ') {
			t.Errorf("%s: alike is %v", name, same)
		}
	}
}
