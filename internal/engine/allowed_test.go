package engine

import (
	"slices"
	"testing"

	"orchestrate/internal/spec"
)

func TestWhatIsAllowedInVainIsSaid(t *testing.T) {
	p := Plan{Jobs: []Planned{{Job: &spec.Job{ID: "j", EnvAllow: []string{"CLAUDECODE", "MY_VAR", "PATH", "NOT_SET"}}}}}
	p.noteAllowed([]string{"CLAUDECODE=1", "MY_VAR=", "PATH=/bin"})
	want := []string{
		"job j does not get CLAUDECODE, although env_allow names it: it belongs to a session that hosts this one",
		"job j does not get NOT_SET, which env_allow names: it is not set",
	}
	if !slices.Equal(p.Notes, want) {
		t.Errorf("%q", p.Notes)
	}
}
