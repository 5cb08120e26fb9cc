package docs_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// The session of the example is a shell script: it drives a run with nothing but what a
// person could type.
func TestTheSessionOfTheExampleDrivesARun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	m := newMachine(t)
	bin := t.TempDir()
	m.goBuild(t, bin+"/", "./cmd/orchestrate")
	m.goBuild(t, bin+"/", "./cmd/orchestrate-supervise")
	example := filepath.Join(m.root, "examples", "session")
	for _, tc := range []struct {
		name, agent string
		code        int
		says        []string
	}{
		{"the agent does it", "agent.sh", 0, []string{"- Jobs: 2/2/0\n", "- Arbiter: unreviewed\n", "- Checks: 1 passed\n"}},
		{"the agent fails", "/bin/false", 1, []string{"- Jobs: 0/2/2\n", "session_failed"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := m.repository(t)
			agent := tc.agent
			if !filepath.IsAbs(agent) {
				agent = filepath.Join(example, agent)
			}
			s := m.session(dir, bin+":"+m.path)
			out, code := s.sh(t, "'"+example+"/session.sh' '"+example+"' '"+agent+"'")
			if code != tc.code {
				t.Errorf("exit status %d, want %d", code, tc.code)
			}
			for _, want := range tc.says {
				if !strings.Contains(out, want) {
					t.Errorf("it does not say %q", want)
				}
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}
