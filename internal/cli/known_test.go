package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
)

func TestProfilesAreHandedOver(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	args, gone, err := handOver([]runtime.Profile{{Runtime: "one", SignedIn: new(true)}})
	if err != nil || len(args) != 1 {
		t.Fatalf("%q, %v", args, err)
	}
	defer gone()
	known, rest, err := takeOver(append(args, "run", "jobs.yaml"))
	if err != nil || len(known) != 1 || known[0].Runtime != "one" || !*known[0].SignedIn || !slices.Equal(rest, []string{"run", "jobs.yaml"}) {
		t.Errorf("%+v, %q, %v", known, rest, err)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) != 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
	if _, rest, err := takeOver(append(args, "run")); err == nil || !strings.Contains(err.Error(), "orchestrate-known") || len(rest) != 1 {
		t.Errorf("a file that is gone: %q, %v", rest, err)
	}
	if known, rest, err := takeOver([]string{"run", knownArg + "x"}); known != nil || len(rest) != 2 || err != nil {
		t.Errorf("a command line of its own: %q, %v", rest, err)
	}
}
