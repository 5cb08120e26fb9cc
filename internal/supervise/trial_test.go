//go:build linux

package supervise_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/sandbox"
	"orchestrate/internal/supervise"
)

// testLevel makes the self-test with a supervisor of that program, in scratch.
func testLevel(t testing.TB, program, scratch string) sandbox.Level {
	t.Helper()
	return supervise.TestSandbox(t.Context(), func(ctx context.Context) (*supervise.Slot, error) {
		return supervise.Start(ctx, []string{program, "supervise"}, version)
	}, program, scratch)
}

func TestSelfTestOfTheSandbox(t *testing.T) {
	t.Parallel()
	scratch := t.TempDir()
	level := testLevel(t, supervisor(t)[0], scratch)
	if sandbox.ABI() < sandbox.MinABI {
		if level.State != sandbox.Unavailable || !strings.Contains(level.Evidence, "Linux 6.2") {
			t.Errorf("without a usable Landlock: %+v", level)
		}
		return
	}
	if !level.Holds() || level.Mechanism != sandbox.Landlock || level.ABI != sandbox.ABI() || len(level.Limits) == 0 {
		t.Errorf("%+v", level)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("the self-test left %v, %v", left, err)
	}
}

// A sandbox that says that it holds and does not is found out.
func TestASandboxThatDoesNotHold(t *testing.T) {
	t.Parallel()
	if sandbox.ABI() < sandbox.MinABI {
		t.Skip("this kernel has no sandbox to be tested")
	}
	loose := filepath.Join(t.TempDir(), "loose")
	if err := os.Symlink(supervisor(t)[0], loose); err != nil {
		t.Fatal(err)
	}
	level := testLevel(t, loose, t.TempDir())
	if level.Holds() || level.State != sandbox.Unavailable {
		t.Errorf("%+v", level)
	}
	for _, want := range []string{"outside its boundary there is", "it could create a file outside", "it could write to a file outside", "more"} {
		if !strings.Contains(level.Evidence, want) {
			t.Errorf("nothing says that %s: %s", want, level.Evidence)
		}
	}
}

func TestASelfTestThatCannotBeMade(t *testing.T) {
	t.Parallel()
	if sandbox.ABI() < sandbox.MinABI {
		t.Skip("this kernel has no sandbox to be tested")
	}
	for want, level := range map[string]sandbox.Level{
		"no such file": testLevel(t, supervisor(t)[0], "/no/such/folder"),
		"install":      testLevel(t, "/no/such/program", t.TempDir()),
	} {
		if level.State != sandbox.Unavailable || !strings.Contains(level.Evidence, want) {
			t.Errorf("want %q: %+v", want, level)
		}
	}
}

// BenchmarkSelfTest is what a command pays once to know what its sandbox holds.
func BenchmarkSelfTest(b *testing.B) {
	report := cpuPerJob(b)
	for b.Loop() {
		if level := testLevel(b, supervisor(b)[0], b.TempDir()); !level.Holds() {
			b.Fatal(level.Evidence)
		}
	}
	report()
}
