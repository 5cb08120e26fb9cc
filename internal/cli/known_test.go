package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/handoff"
	"orchestrate/internal/runtime"
)

func TestProfilesAreHandedOver(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	args, gone, err := handOver(handed{
		Known:  []runtime.Profile{{Runtime: "one", SignedIn: new(true)}},
		Agents: &handoff.Agents{SchemaVersion: 1, Agents: []handoff.Agent{{Name: "a", Tools: []string{}}, {Name: "b"}}},
	})
	if err != nil || len(args) != 1 {
		t.Fatalf("%q, %v", args, err)
	}
	defer gone()
	got, rest, err := takeOver(append(args, "run", "jobs.yaml"))
	known := got.Known
	if err != nil || len(known) != 1 || known[0].Runtime != "one" || !*known[0].SignedIn || !slices.Equal(rest, []string{"run", "jobs.yaml"}) {
		t.Errorf("%+v, %q, %v", known, rest, err)
	}
	if a := got.Agents; a == nil || len(a.Agents) != 2 || a.Agents[0].Tools == nil || a.Agents[1].Tools != nil {
		t.Errorf("agents: %+v", a)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) != 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
	if _, rest, err := takeOver(append(args, "run")); err == nil || !strings.Contains(err.Error(), "orchestrate-known") || len(rest) != 1 {
		t.Errorf("a file that is gone: %q, %v", rest, err)
	}
	if got, rest, err := takeOver([]string{"run", handedArg + "x"}); got.Known != nil || len(rest) != 2 || err != nil {
		t.Errorf("a command line of its own: %q, %v", rest, err)
	}
}
