//go:build linux

package supervise_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"orchestrate/internal/sandbox"
	"orchestrate/internal/supervise"
)

func TestSelfTestOfTheSandbox(t *testing.T) {
	t.Parallel()
	scratch := t.TempDir()
	level := supervise.TestSandbox(t.Context(), func(ctx context.Context) (*supervise.Slot, error) {
		return supervise.Start(ctx, supervisor(t), version)
	}, supervisor(t)[0], scratch)
	t.Logf("%+v", level)
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
