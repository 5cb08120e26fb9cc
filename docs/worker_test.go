package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The example of the patterns can be rehearsed as it stands: each comes to what its page
// says of it.
func TestTheExampleOfThePatternsIsRehearsed(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	m := newMachine(t)
	bin := t.TempDir()
	m.goBuild(t, bin+"/", "./cmd/orchestrate")
	m.goBuild(t, bin+"/", "./cmd/orchestrate-supervise")
	s := m.session(m.repository(t), bin+":"+m.path)
	out, code := s.sh(t, "orchestrate rehearse '"+m.root+"/examples/patterns.yaml'")
	if code != 0 {
		t.Errorf("exit status %d", code)
	}
	for _, want := range []string{
		"audit-4 … audit-12   9 jobs not needed: the list has 3 items\n", "dry after round 4 of at most 5, 3 found\n", "2 of 3 accepted, 2 required\n",
		"verification 2 of at most 3 accepted\n", "- Jobs: 16/16/0\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// The coordinator of the example is a shell script, and its worker another: both stages go
// through, and what is the coordinator's own is left alone.
func TestTheCoordinatorOfTheExampleDrivesAWorkerRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	m := newMachine(t)
	bin := t.TempDir()
	m.goBuild(t, bin+"/", "./cmd/orchestrate")
	m.goBuild(t, bin+"/", "./cmd/orchestrate-supervise")
	example := filepath.Join(m.root, "examples", "worker")
	for _, tc := range []struct {
		name, worker string
		code         int
		says         []string
	}{
		{"all is well", "'" + example + "/agent.sh'", 0, []string{"part-docs", "licence", "summary", "unreviewed", "Asked in"}},
		{"the workers fail", "exit 3", 1, []string{"4 failed", "unreviewed"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := m.repository(t)
			s := m.session(dir, bin+":"+m.path)
			s.env = append(s.env, "WORKER="+tc.worker)
			out, code := s.sh(t, "'"+example+"/drive.sh' '"+example+"' \"$WORKER\"")
			if code != tc.code {
				t.Errorf("exit status %d, want %d", code, tc.code)
			}
			for _, want := range tc.says {
				if !strings.Contains(out, want) {
					t.Errorf("it does not say %q", want)
				}
			}
			plans, err := filepath.Glob(dir + "/.orchestrate/runs/*/plan.md")
			if err != nil || len(plans) != 1 {
				t.Fatalf("plans: %q, %v", plans, err)
			}
			if plan, err := os.ReadFile(plans[0]); err != nil || string(plan) != "Stage 1: each part by itself. Stage 2: one answer.\n" {
				t.Errorf("the coordinator's plan is now %q, %v", plan, err)
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}
