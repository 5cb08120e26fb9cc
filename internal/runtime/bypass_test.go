package runtime_test

import (
	"testing"

	"orchestrate/internal/runtime"
)

func TestBypass(t *testing.T) {
	for _, argv := range [][]string{
		{"x", "--yolo"},
		{"x", "--dangerously-skip-permissions"},
		{"x", "--permission-mode", "bypassPermissions"},
		{"x", "--approval-mode=yolo"},
		{"x", "--approval-mode", "YOLO"},
		{"x", "--allow-all-tools"},
		{"x", "--trust-all-tools"},
		{"x", "--full-auto"},
		{"x", "--auto-approve=true"},
		{"COPILOT_ALLOW_ALL=true"},
	} {
		if runtime.Bypass(argv) == "" {
			t.Errorf("%q passes", argv)
		}
	}
	for _, argv := range [][]string{{"x", "--allowed-tools", "Read"}, {"x", "--approval-mode=auto-edit"}, {"yolo"}, {"x", "--auto-approve=false"}} {
		if arg := runtime.Bypass(argv); arg != "" {
			t.Errorf("%q is refused for %q", argv, arg)
		}
	}
}
